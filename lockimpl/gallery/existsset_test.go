package gallery

import (
	"errors"
	"testing"

	"locktorture/lockimpl"
)

// TestLookThenTake stops one client just before it writes, lets another take the
// lock, and lets the first go on.
func TestLookThenTake(t *testing.T) {
	for _, c := range []struct {
		id      string
		granted bool
	}{{"exists-set", true}, {"setnx-del", false}} {
		t.Run(c.id, func(t *testing.T) {
			_, nodes := cluster(t, 1)
			w, slow := wired(nodes)
			a, b := open(t, factory(t, c.id), slow), open(t, factory(t, c.id), nodes)
			w.hold("\r\nset")
			done := async(t, func() error { _, err := a.Acquire(t.Context(), "k", ttl); return err })
			<-w.caught
			mustAcquire(t, b, "k")
			close(w.proceed)
			err := <-done
			if granted := err == nil; granted != c.granted {
				t.Errorf("second grant: %t (%v), want %t", granted, err, c.granted)
			}
			if !c.granted && !errors.Is(err, lockimpl.ErrHeld) {
				t.Errorf("refusal: %v, want ErrHeld", err)
			}
		})
	}
}
