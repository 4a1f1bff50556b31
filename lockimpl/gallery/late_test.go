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
		"sentinel": false, "sentinel-min-replicas": false, "sentinel-wait": false, "cluster": false,
		"token-host-time": true, "token-per-object": false, "retry-on-error": false,
		"retry-on-error-hash": false, "redisson-redlock": false, "routed": false,
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
			if told := errors.Is(err, lockimpl.ErrLost); told == r.Unchecked || err != nil && !told {
				t.Errorf("late release: %v, want ErrLost unless the recipe cannot know", err)
			}
			if freed {
				mustAcquire(t, c, "k")
			} else {
				mustRefuse(t, c, "k")
			}
		})
	}
}
