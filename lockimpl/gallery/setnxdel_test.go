package gallery

import (
	"testing"
	"time"
)

// TestHolderNeverReleases leaves the lock to itself.
func TestHolderNeverReleases(t *testing.T) {
	for _, c := range []struct {
		id     string
		orphan bool
	}{{"setnx-del", true}, {"set-nx-ex-del", false}} {
		t.Run(c.id, func(t *testing.T) {
			servers, nodes := cluster(t, 1)
			a, b := open(t, factory(t, c.id), nodes), open(t, factory(t, c.id), nodes)
			mustAcquire(t, a, "k")
			servers[0].FastForward(time.Hour)
			if c.orphan {
				mustRefuse(t, b, "k")
			} else {
				mustAcquire(t, b, "k")
			}
		})
	}
}
