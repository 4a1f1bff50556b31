package gallery

import (
	"errors"
	"testing"
	"time"

	"locktorture/lockimpl"
)

// TestCutBeforeExpire breaks the connection where the expiry would be sent.
func TestCutBeforeExpire(t *testing.T) {
	for _, c := range []struct {
		id     string
		orphan bool
	}{{"setnx-expire", true}, {"set-nx-ex-del", false}} {
		t.Run(c.id, func(t *testing.T) {
			servers, nodes := cluster(t, 1)
			w, frail := wired(nodes)
			a, b := open(t, factory(t, c.id), frail), open(t, factory(t, c.id), nodes)
			w.cut("pexpire")
			_, err := a.Acquire(t.Context(), "k", ttl)
			if c.orphan && !errors.Is(err, lockimpl.ErrHeld) {
				t.Fatalf("acquire over the cut: %v, want the error swallowed: not taken", err)
			}
			servers[0].FastForward(time.Hour)
			if c.orphan {
				mustRefuse(t, b, "k")
			} else {
				mustAcquire(t, b, "k")
			}
		})
	}
}
