package gallery

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"locktorture/lockimpl"
)

// TestPromotedReplicaForgets moves the address to a server that has never seen
// the key, as a failover does whose replication came too late.
func TestPromotedReplicaForgets(t *testing.T) {
	servers, _ := cluster(t, 2)
	var master atomic.Pointer[string]
	promote := func(i int) { addr := servers[i].Addr(); master.Store(&addr) }
	promote(0)
	nodes := []lockimpl.Node{{Name: "n1", Addr: "n1", Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, *master.Load())
	}}}
	a, b := open(t, factory(t, "failover"), nodes), open(t, factory(t, "failover"), nodes)
	mustAcquire(t, a, "k")
	mustRefuse(t, b, "k")
	servers[0].Close()
	promote(1)
	// b's pooled connection is the dead master's: its first command may fail.
	_, err := b.Acquire(t.Context(), "k", ttl)
	if err != nil && !errors.Is(err, lockimpl.ErrHeld) {
		_, err = b.Acquire(t.Context(), "k", ttl)
	}
	if err != nil {
		t.Fatalf("acquire from the promoted replica: %v, want a grant beside the first holder's", err)
	}
}
