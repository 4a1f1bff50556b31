package script

import (
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// A lease that seems longer than any may be was given before the node's clock was set back: it
// ends within the longest that the node grants.
func TestLeaseFromBeforeAClockWasSetBackEnds(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		for _, held := range []string{"other 7", "r"} {
			for way, ask := range asks {
				if strings.HasPrefix(way, "shared") && held == "r" {
					continue // it is let in
				}
				n := newNode(t, rdb, map[string]string{"node": run + " 0 0 700000", "fence": "7"})
				set := func(left time.Duration) {
					if err := rdb.Set(t.Context(), n.k["lock"], held, left).Err(); err != nil {
						t.Fatal(err)
					}
				}
				left := func() time.Duration { return rdb.PTTL(t.Context(), n.k["lock"]).Val() }
				set(2 * maxTTL * time.Millisecond)
				code, told := numbers(ask(n, run, ttl, 0))
				if code != 0 || told > maxTTL || left() > maxTTL*time.Millisecond || left() < maxTTL*time.Millisecond/2 {
					t.Errorf("held by %q, %s: told %d, %d ms, and %v are left", held, way, code, told, left())
				}
				set(maxTTL * time.Millisecond / 7 * 6)
				if ask(n, run, ttl, 0); left() > maxTTL*time.Millisecond/7*6 {
					t.Errorf("held by %q, %s: lengthened to %v", held, way, left())
				}
			}
		}
	})
}

// Tokens are told apart whatever a node's clock says.
func TestTokensGrowUnderAClockCenturiesAhead(t *testing.T) {
	m := miniredis.RunT(t)
	m.SetTime(time.Date(2261, 1, 1, 0, 0, 0, 0, time.UTC)) // its microseconds are beyond 2^53; in 2263 miniredis begins anew
	rdb := redis.NewClient(&redis.Options{Addr: m.Addr()})
	defer rdb.Close()
	for way, ask := range asks {
		if strings.HasPrefix(way, "shared") {
			continue // readers share theirs
		}
		n := newNode(t, rdb, map[string]string{"node": run + " 0 0 700000"})
		var last int64
		for range 4 {
			rdb.Del(t.Context(), n.k["lock"], n.k["fence"]) // the mark stands in for the fence
			v, _ := numbers(ask(n, run, ttl, 1<<40))
			if v <= last || v > 1<<53 {
				t.Errorf("%s: token %d after %d", way, v, last)
			}
			last = v
		}
	}
}
