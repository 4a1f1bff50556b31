package gallery

import (
	"testing"

	"locktorture/lockimpl"
)

// TestLeaseEndsUnseen ends leases and finds that nothing could have told the
// holder, nor a guarded store: no token, no notice.
func TestLeaseEndsUnseen(t *testing.T) {
	for _, id := range []string{"token-lua", "token-watchdog", "redlock-plain"} {
		t.Run(id, func(t *testing.T) {
			servers, nodes := cluster(t, 5)
			a, b := open(t, factory(t, id), nodes), open(t, factory(t, id), nodes)
			lease := mustAcquire(t, a, "k")
			for _, s := range servers {
				s.FastForward(ttl + 1)
			}
			mustAcquire(t, b, "k")
			if f := lease.Fence(); f != 0 {
				t.Errorf("fence %d, want none", f)
			}
			if _, told := lease.(lockimpl.LostNotifier); told {
				t.Error("the lease tells of its loss; the recipe does not")
			}
		})
	}
}

// TestExtend renews by hand: the lease outlives its first TTL, and no owner but
// the present one can renew.
func TestExtend(t *testing.T) {
	for _, r := range Recipes() {
		if !r.Extends {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			servers, nodes := cluster(t, r.Nodes)
			a, b := open(t, r.Factory, nodes), open(t, r.Factory, nodes)
			lease := mustAcquire(t, a, "k")
			before := lease.ValidUntil()
			if err := lease.Extend(t.Context(), 3*ttl); err != nil {
				t.Fatalf("extend: %v", err)
			}
			if d := lease.ValidUntil().Sub(before); d < ttl {
				t.Errorf("validity moved by %v, want about %v", d, 2*ttl)
			}
			for _, s := range servers {
				s.FastForward(2 * ttl)
			}
			mustRefuse(t, b, "k")
			for _, s := range servers {
				s.FastForward(ttl)
			}
			mustAcquire(t, b, "k")
			until := lease.ValidUntil()
			if err := lease.Extend(t.Context(), ttl); err == nil {
				t.Error("extended a lease that is another's")
			}
			if !lease.ValidUntil().Equal(until) {
				t.Error("a refused extension moved the validity")
			}
		})
	}
}
