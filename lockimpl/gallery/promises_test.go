package gallery

import (
	"cmp"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
)

// TestPromisedDeadlines holds until when a grant and an extension promise the
// lock, over links on which every reply takes a while: the time counts from the
// beginning.
func TestPromisedDeadlines(t *testing.T) {
	const reply, none = 20 * time.Millisecond, time.Duration(-1)
	promised := map[string]time.Duration{ // a TTL where nothing is said
		"exists-set": none, "setnx-del": none, "renew-limited": none,
		"redlock-plain":    ttl - ttl/100 - driftFloor,
		"redisson-redlock": ttl + 4*reply, // of the last part, by which each has its own
	}
	shared := map[string]time.Duration{"rw-hash-timestamps": ttl / 3}
	for _, r := range Recipes() {
		t.Run(r.ID, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, links, nodes := virtualCluster(t, r.Nodes)
				l := open(t, r.Factory, nodes)
				mustRelease(t, mustAcquire(t, l, "k")) // connections are open
				for _, link := range links {
					link.Down.Delay(reply)
				}
				holds := func(what string, want time.Duration, do func() lockimpl.Lease) lockimpl.Lease {
					began := time.Now()
					lease := do()
					got := none
					if until := lease.ValidUntil(); !until.IsZero() {
						got = until.Sub(began)
					}
					if want = cmp.Or(want, ttl); got != want {
						t.Errorf("%s: %v of promise, want %v", what, got, want)
					}
					return lease
				}
				lease := holds("acquire", promised[r.ID], func() lockimpl.Lease { return mustAcquire(t, l, "k") })
				if r.Extends {
					holds("extend", promised[r.ID], func() lockimpl.Lease {
						if err := lease.Extend(t.Context(), ttl); err != nil {
							t.Fatal(err)
						}
						return lease
					})
				}
				if _, can := l.(lockimpl.SharedLocker); can {
					holds("acquire shared", shared[r.ID], func() lockimpl.Lease { return mustShare(t, l, "other") })
				}
			})
		})
	}
}
