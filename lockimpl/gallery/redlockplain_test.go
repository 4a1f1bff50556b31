package gallery

import (
	"errors"
	"testing"

	"locktorture/lockimpl"
)

// dead is a node that nobody listens at.
func dead(n lockimpl.Node) lockimpl.Node {
	n.Addr = "127.0.0.1:1"
	return n
}

// TestSecondQuorum cuts two clients off from different minorities, so that one
// master decides. When it forgets, both hold.
func TestSecondQuorum(t *testing.T) {
	for _, c := range []struct {
		name    string
		forgets bool
	}{{"swing node keeps its data", false}, {"swing node comes back empty", true}} {
		t.Run(c.name, func(t *testing.T) {
			servers, n := cluster(t, 5)
			left := []lockimpl.Node{n[0], n[1], n[2], dead(n[3]), dead(n[4])}
			right := []lockimpl.Node{dead(n[0]), dead(n[1]), n[2], n[3], n[4]}
			a, b := open(t, RedlockPlain(), left), open(t, RedlockPlain(), right)
			first := mustAcquire(t, a, "k")
			if c.forgets {
				servers[2].FlushAll()
			}
			second, err := b.Acquire(t.Context(), "k", ttl)
			if granted := err == nil; granted != c.forgets {
				t.Fatalf("second grant: %t (%v), want %t", granted, err, c.forgets)
			}
			if c.forgets && second.ValidUntil().Before(first.ValidUntil()) {
				t.Error("the promises do not overlap")
			}
		})
	}
}

// TestBallotDecides counts: a minority of dead masters changes nothing, a
// majority makes the answer definite, and whatever was granted is undone.
func TestBallotDecides(t *testing.T) {
	servers, n := cluster(t, 5)
	a := open(t, RedlockPlain(), []lockimpl.Node{n[0], n[1], n[2], dead(n[3]), dead(n[4])})
	lease := mustAcquire(t, a, "k")
	b := open(t, RedlockPlain(), n)
	mustRefuse(t, b, "k")
	for _, s := range servers[3:] {
		if s.Exists("k") {
			t.Error("a partial grant was not undone")
		}
	}
	mustRelease(t, lease)
	c := open(t, RedlockPlain(), []lockimpl.Node{n[0], n[1], dead(n[2]), dead(n[3]), dead(n[4])})
	if _, err := c.Acquire(t.Context(), "k", ttl); !errors.Is(err, lockimpl.ErrNoQuorum) {
		t.Errorf("acquire from two of five: %v, want ErrNoQuorum", err)
	}
	for _, s := range servers {
		if s.Exists("k") {
			t.Error("a partial grant was not undone")
		}
	}
}

// TestNoTimeLeft wins every vote too late to be of use.
func TestNoTimeLeft(t *testing.T) {
	_, n := cluster(t, 5)
	a := open(t, RedlockPlain(), n)
	mustRelease(t, mustAcquire(t, a, "k")) // connections are open
	if _, err := a.Acquire(t.Context(), "k", driftFloor); err == nil {
		t.Fatal("held a lease whose validity is its drift allowance")
	}
}
