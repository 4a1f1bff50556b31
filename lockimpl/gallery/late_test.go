package gallery

import (
	"errors"
	"testing"

	"locktorture/lockimpl"
)

// TestLateRelease lets a holder release after its lease has ended and another
// holds the lock: a third must not get in.
func TestLateRelease(t *testing.T) {
	frees := map[string]bool{
		"getset-timestamp": true, "lua-setnx-expire": true, "set-nx-ex-del": true, "rw-two-keys": true,
		"token-get-del": false, "token-lua": false, "polling": false, "token-watchdog": false, "failover": false,
		"renew-limited": false, "redisson-hash": false, "redlock-plain": false,
	}
	for _, r := range Recipes() {
		freed, judged := frees[r.ID]
		if !judged { // nothing of it ends with the server's clock
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			servers, nodes := cluster(t, r.Nodes)
			a, b, c := open(t, r.Factory, nodes), open(t, r.Factory, nodes), open(t, r.Factory, nodes)
			late := mustAcquire(t, a, "k")
			for _, s := range servers {
				s.FastForward(ttl + 1)
			}
			mustAcquire(t, b, "k")
			err := late.Release(t.Context())
			if !freed {
				if !errors.Is(err, lockimpl.ErrLost) {
					t.Errorf("late release: %v, want ErrLost", err)
				}
				mustRefuse(t, c, "k")
				return
			}
			if err != nil {
				t.Errorf("late release: %v, want none: the recipe cannot know", err)
			}
			mustAcquire(t, c, "k")
		})
	}
}
