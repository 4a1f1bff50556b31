package gallery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"locktorture/lockimpl"
)

var errGone = errors.New("the server is out of sight")

// A sight is one client's way to a server, which can be lost.
type sight struct{ lost atomic.Bool }

type seenConn struct {
	net.Conn
	sight *sight
}

func (c seenConn) Write(p []byte) (int, error) {
	if c.sight.lost.Load() {
		c.Conn.Close()
		return 0, errGone
	}
	return c.Conn.Write(p)
}

// sights returns nodes as seen by one client that can lose sight of each.
func sights(nodes []lockimpl.Node) ([]*sight, []lockimpl.Node) {
	all, out := make([]*sight, len(nodes)), make([]lockimpl.Node, len(nodes))
	for i, n := range nodes {
		s := &sight{}
		n.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if s.lost.Load() {
				return nil, errGone
			}
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			return seenConn{c, s}, err
		}
		all[i], out[i] = s, n
	}
	return all, out
}

// TestKeysAreSpread takes many keys: each is on one server, and all servers
// have some; another client finds each of them held.
func TestKeysAreSpread(t *testing.T) {
	servers, nodes := cluster(t, 3)
	a, b := open(t, Routed(), nodes), open(t, Routed(), nodes)
	on := make([]int, len(servers))
	for i := range 64 {
		key := fmt.Sprintf("k%d", i)
		mustAcquire(t, a, key)
		mustRefuse(t, b, key)
		copies := 0
		for j, s := range servers {
			if s.Exists(key) {
				copies++
				on[j]++
			}
		}
		if copies != 1 {
			t.Errorf("%s is on %d servers, want one", key, copies)
		}
	}
	for j, n := range on {
		if n == 0 {
			t.Errorf("server %d has none of the keys: %v", j, on)
		}
	}
}

// TestLostSightOfAServer has one client lose sight of the server of a key that
// another holds: its ring asks another server, which grants. Its release goes
// there too.
func TestLostSightOfAServer(t *testing.T) {
	servers, nodes := cluster(t, 3)
	seen, own := sights(nodes)
	a, b := open(t, Routed(), own), open(t, Routed(), nodes)
	early := mustAcquire(t, a, "mine")
	mustAcquire(t, b, "k")
	home, mine := where(t, servers, "k"), where(t, servers, "mine")
	mustRefuse(t, a, "k")
	seen[home].lost.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	await := func(key string) {
		for {
			_, err := a.Acquire(ctx, key, ttl)
			if err == nil {
				return
			}
			if !wait(ctx, heartbeat/10) {
				t.Fatalf("%s: %v, want a grant from another server", key, err)
			}
		}
	}
	await("k")
	if !servers[home].Exists("k") {
		t.Error("the first holder's key is gone")
	}
	seen[home].lost.Store(false)
	seen[mine].lost.Store(true)
	await("mine")
	if err := early.Release(ctx); err != nil {
		t.Errorf("release of what the ring has moved: %v, want none: it is sent elsewhere", err)
	}
	if !servers[mine].Exists("mine") {
		t.Error("the release reached the server that is out of sight")
	}
}

// where is the server that has key.
func where(t *testing.T, servers []*miniredis.Miniredis, key string) int {
	t.Helper()
	for i, s := range servers {
		if s.Exists(key) {
			return i
		}
	}
	t.Fatalf("no server has %s", key)
	return 0
}
