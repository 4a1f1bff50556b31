package gallery

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"locktorture/lockimpl"
)

const ttl = 10 * time.Second

// factory returns the recipe id, as it stands in the gallery.
func factory(t *testing.T, id string) lockimpl.Factory {
	t.Helper()
	for _, r := range Recipes() {
		if r.ID == id {
			return r.Factory
		}
	}
	t.Fatalf("no recipe %q", id)
	return nil
}

// cluster starts n empty masters whose clocks stand still until moved.
func cluster(t *testing.T, n int) ([]*miniredis.Miniredis, []lockimpl.Node) {
	t.Helper()
	servers, nodes := make([]*miniredis.Miniredis, n), make([]lockimpl.Node, n)
	for i := range n {
		servers[i] = miniredis.RunT(t)
		servers[i].Server().SetPreHook(acknowledge)
		nodes[i] = lockimpl.Node{Name: servers[i].Addr(), Addr: servers[i].Addr()}
	}
	return servers, nodes
}

// acknowledge answers WAIT as a master with one replica does, which has everything.
func acknowledge(c *server.Peer, cmd string, _ ...string) bool {
	if !strings.EqualFold(cmd, "WAIT") {
		return false
	}
	c.WriteInt(1)
	return true
}

// open builds the locker of one client.
func open(t *testing.T, f lockimpl.Factory, nodes []lockimpl.Node) lockimpl.Locker {
	t.Helper()
	l, err := f(nodes)
	if err != nil {
		t.Fatalf("open locker: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close locker: %v", err)
		}
	})
	return l
}

// acquire makes one attempt, and further ones while a lock over many masters,
// which passes over those that are slow on a busy machine, cannot say.
func acquire(t *testing.T, l lockimpl.Locker, key string) (lease lockimpl.Lease, err error) {
	t.Helper()
	for range plays {
		if lease, err = l.Acquire(t.Context(), key, ttl); !errors.Is(err, errNoMajority) {
			break
		}
	}
	return lease, err
}

func mustAcquire(t *testing.T, l lockimpl.Locker, key string) lockimpl.Lease {
	t.Helper()
	lease, err := acquire(t, l, key)
	if err != nil {
		t.Fatalf("acquire %s: %v", key, err)
	}
	return lease
}

func mustRefuse(t *testing.T, l lockimpl.Locker, key string) {
	t.Helper()
	if _, err := acquire(t, l, key); !errors.Is(err, lockimpl.ErrHeld) {
		t.Fatalf("acquire %s: got %v, want ErrHeld", key, err)
	}
}

func mustRelease(t *testing.T, l lockimpl.Lease) {
	t.Helper()
	if err := l.Release(t.Context()); err != nil {
		t.Fatalf("release: %v", err)
	}
}

// TestEveryRecipeLocks holds every recipe to what it does promise: one holder,
// a refusal for the other, a hand-over after release, nothing left behind.
func TestEveryRecipeLocks(t *testing.T) {
	for _, r := range Recipes() {
		t.Run(r.ID, func(t *testing.T) {
			servers, nodes := cluster(t, r.Nodes)
			a, b := open(t, r.Factory, nodes), open(t, r.Factory, nodes)
			first := mustAcquire(t, a, "k")
			mustRefuse(t, b, "k")
			mustAcquire(t, b, "other")
			mustRelease(t, first)
			second := mustAcquire(t, b, "k")
			mustRefuse(t, a, "k")
			mustRelease(t, second)
			for _, s := range servers {
				for _, k := range a.(lockimpl.KeyLister).LeaseKeys("k") {
					if s.Exists(k) {
						t.Errorf("%s is left on %s after the release", k, s.Addr())
					}
				}
			}
		})
	}
}

// TestUnknownIsNotDefinite cuts every recipe off from its servers.
func TestUnknownIsNotDefinite(t *testing.T) {
	for _, r := range Recipes() {
		t.Run(r.ID, func(t *testing.T) {
			servers, nodes := cluster(t, r.Nodes)
			a := open(t, r.Factory, nodes)
			lease := mustAcquire(t, a, "k")
			for _, s := range servers {
				s.Close()
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if err := lease.Release(ctx); err == nil || errors.Is(err, lockimpl.ErrLost) {
				t.Errorf("release without servers: got %v, want an indefinite error", err)
			}
			if _, err := a.Acquire(ctx, "k2", ttl); err == nil || errors.Is(err, lockimpl.ErrHeld) != r.Swallows {
				t.Errorf("acquire without servers: got %v, want an error, and ErrHeld only of a recipe that swallows errors", err)
			}
		})
	}
}
