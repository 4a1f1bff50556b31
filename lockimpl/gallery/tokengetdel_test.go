package gallery

import (
	"testing"
)

// TestLeaseEndsDuringRelease keeps the last command of a release back until
// the lease has ended and another holds the lock.
func TestLeaseEndsDuringRelease(t *testing.T) {
	for _, c := range []struct {
		id, last string
		freed    bool
	}{{"token-get-del", "$3\r\ndel\r\n", true}, {"token-lua", "eval", false}} {
		t.Run(c.id, func(t *testing.T) {
			servers, nodes := cluster(t, 1)
			w, slow := wired(nodes)
			f := factory(t, c.id)
			a, b, third := open(t, f, slow), open(t, f, nodes), open(t, f, nodes)
			lease := mustAcquire(t, a, "k")
			w.hold(c.last)
			done := async(t, func() error { return lease.Release(t.Context()) })
			<-w.caught
			servers[0].FastForward(ttl + 1)
			mustAcquire(t, b, "k")
			close(w.proceed)
			err := <-done
			if err != nil {
				t.Errorf("release: %v, want none: the recipe cannot know", err)
			}
			if c.freed {
				mustAcquire(t, third, "k")
			} else {
				mustRefuse(t, third, "k")
			}
		})
	}
}
