package script

import (
	"fmt"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl/internal/redistest"
)

// both runs test on a redis-server and on an embedded one.
func both(t *testing.T, test func(t *testing.T, rdb *redis.Client)) {
	t.Run("server", func(t *testing.T) { test(t, redistest.Start(t)) })
	t.Run("embedded", func(t *testing.T) {
		m := miniredis.RunT(t)
		rdb := redis.NewClient(&redis.Options{Addr: m.Addr()})
		t.Cleanup(func() { _ = rdb.Close() })
		test(t, rdb)
	})
}

// A node is one server as the scripts see it, for lock a.
type node struct {
	t   *testing.T
	rdb *redis.Client
	k   map[string]string
}

// newNode empties a server and writes a record and what the lock keeps.
func newNode(t *testing.T, rdb *redis.Client, stored map[string]string) node {
	t.Helper()
	n := node{t, rdb, names("a")}
	if err := rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	for name, value := range stored {
		if err := rdb.Set(t.Context(), n.k[name], value, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func (n node) call(s *Script, keys []string, args ...any) string {
	n.t.Helper()
	full := make([]string, len(keys))
	for i, k := range keys {
		full[i] = n.k[k]
	}
	return call{s, full, args}.on(n.rdb)
}

func (n node) get(name string) string { return n.rdb.Get(n.t.Context(), n.k[name]).Val() }

// A token that a node has accepted is below every one that it issues later, to
// writers and to readers, whatever the readers' gossip was; and the node's
// high-water mark, from which others are seeded, is not below it.
func TestAcceptedWriteBackIsBelowEveryLaterToken(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		for _, shared := range []bool{false, true} {
			for _, fence := range []string{"", "1", "40", "40 1", "50 1", "90", "90 1", "90 40", "90 50"} {
				stored := map[string]string{"node": run + " 0 0 700000"}
				if fence != "" {
					stored["fence"] = fence
				}
				writeBack(t, newNode(t, rdb, stored), shared, fence, 50)
			}
		}
	})
}

func writeBack(t *testing.T, n node, shared bool, fence string, token int) {
	what := fmt.Sprintf("shared %v, fence %q", shared, fence)
	var got string
	if shared {
		n.rdb.Set(t.Context(), n.k["lock"], "r", 0)
		n.rdb.ZAdd(t.Context(), n.k["readers"], redis.Z{Score: float64(time.Now().UnixMilli() + ttl), Member: "me"})
		got = n.call(WriteBackShared, []string{"node", "lock", "fence", "readers"}, "me", run, token)
	} else {
		n.rdb.Set(t.Context(), n.k["lock"], "me 1", 0)
		got = n.call(WriteBack, []string{"node", "lock", "fence"}, "me", run, token)
	}
	var f, w int
	if count, _ := fmt.Sscanf(fence, "%d %d", &f, &w); count == 1 {
		w = f
	}
	if shared && w >= token {
		if want := fmt.Sprintf("[2 %d]", w+1); got != want {
			t.Errorf("%s: write-back answered %s, want %s: a writer has that token or a later one", what, got, want)
		}
		token = w + 1 // which counts as stored here
	} else if got != "1" {
		t.Fatalf("%s: write-back answered %s", what, got)
	}
	var floor, hw int
	if _, err := fmt.Sscanf(n.get("node"), run+" %d %d", &floor, &hw); err != nil || hw < token {
		t.Errorf("%s: the high-water mark is %d (%v), below the token %d", what, hw, err, token)
	}
	n.rdb.Del(t.Context(), n.k["lock"], n.k["readers"])
	queue := []string{"node", "lock", "fence", "tomb", "flag", "tickets", "beats"}
	if !shared { // readers share a token, which may be this one
		var v, top int
		reply := n.call(AcquireShared, append(queue, "readers"), "reader", ttl, run, 0, "", 0, patience)
		if _, err := fmt.Sscanf(reply, "[%d %d]", &v, &top); err != nil || v <= token {
			t.Errorf("%s: the next reader gets %s, want more than %d", what, reply, token)
		}
		n.rdb.Del(t.Context(), n.k["lock"], n.k["readers"])
	}
	var v int
	reply := n.call(Wait, queue, "writer", ttl, run, 0, "x:c:1", 1, patience)
	if _, err := fmt.Sscanf(reply, "%d", &v); err != nil || v <= token {
		t.Errorf("%s: the next writer gets %s, want more than %d", what, reply, token)
	}
}

// A proposal that is further ahead of the node's clock than two seconds would
// take away the tokens in between; it is ignored.
func TestProposalFarAheadOfTheClockIsIgnored(t *testing.T) {
	both(t, func(t *testing.T, rdb *redis.Client) {
		now := rdb.Time(t.Context()).Val().UnixMicro()
		queue := []string{"node", "lock", "fence", "tomb", "flag", "tickets", "beats"}
		for ahead, taken := range map[int64]bool{0: true, 1_000_000: true, 3_000_000: false, 1 << 50: false} {
			hint := now + ahead
			for name, ask := range map[string]func(n node) string{
				"acquire": func(n node) string {
					return n.call(Acquire, queue, "me", ttl, run, hint+1, patience)
				},
				"wait": func(n node) string { return n.call(Wait, queue, "me", ttl, run, hint, "x:c:1", now, patience) },
				"shared": func(n node) string {
					return n.call(AcquireShared, append(queue, "readers"), "me", ttl, run, hint, "", 0, patience)
				},
			} {
				for _, hw := range []int64{0, now} {
					n := newNode(t, rdb, map[string]string{"node": fmt.Sprintf("%s 0 %d 700000", run, hw), "fence": "7"})
					reply := ask(n)
					var f int64
					if _, err := fmt.Sscanf(n.get("fence"), "%d", &f); err != nil || f >= hint != taken {
						t.Errorf("%s, proposal %v s ahead, mark %d: answered %s, fence %q", name, float64(ahead)/1e6, hw, reply, n.get("fence"))
					}
					if after := n.mark(); after < f { // it stands in for the fence, should that be lost
						t.Errorf("%s, proposal %v s ahead, mark %d: the fence is %d, and the mark %d", name, float64(ahead)/1e6, hw, f, after)
					}
				}
			}
		}
	})
}
