package gallery

import (
	"errors"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2/server"

	"locktorture/lockimpl"
)

// Where no replica acknowledges, nothing is granted and nothing is left, and an
// extension promises nothing.
func TestUnacknowledged(t *testing.T) {
	servers, nodes := cluster(t, 1)
	a := open(t, factory(t, "sentinel-wait"), nodes)
	lease := mustAcquire(t, a, "held")
	before := lease.ValidUntil()
	servers[0].Server().SetPreHook(func(c *server.Peer, cmd string, _ ...string) bool {
		if !strings.EqualFold(cmd, "WAIT") {
			return false
		}
		c.WriteInt(0)
		return true
	})
	if _, err := a.Acquire(t.Context(), "k", ttl); !errors.Is(err, lockimpl.ErrNoQuorum) {
		t.Errorf("acquire: %v, want ErrNoQuorum", err)
	}
	if servers[0].Exists("k") {
		t.Error("the key is left")
	}
	if err := lease.Extend(t.Context(), 3*ttl); err == nil || errors.Is(err, lockimpl.ErrLost) {
		t.Errorf("extend: %v, want an unknown outcome", err)
	}
	if lease.ValidUntil() != before {
		t.Error("the promise has moved")
	}
}
