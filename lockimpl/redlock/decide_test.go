package redlock

import (
	"errors"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/redlock/internal/node"
)

// An acquire that a node has been cleared to send may arrive: an attempt that ends at that
// moment has an unknown outcome, and one that ends before it is not sent.
func TestEndOfAnAttemptBesideItsSending(t *testing.T) {
	attempt := func() *attempt {
		l, err := newOver([]lockimpl.Node{{Name: "n", Addr: "nowhere:1"}}, Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		a := l.newAttempt(l.keys("k"), request{ttl: time.Second})
		a.asked = 1
		return a
	}
	a := attempt()
	if !a.byNode[0].Wanted(false) {
		t.Fatal("an attempt that has just begun is not sent")
	}
	if a.giveUp(errTimeout); !errors.Is(a.err, ErrUnknown) {
		t.Errorf("ended while it was being sent: %v, want ErrUnknown", a.err)
	}
	a = attempt()
	if a.giveUp(errTimeout); !errors.Is(a.err, ErrNoQuorum) || a.byNode[0].Wanted(false) {
		t.Errorf("ended before it was sent: %v, want ErrNoQuorum and nothing sent", a.err)
	}
}

// What a node issues after the decision, in a grant or in answer to a write-back, does not
// change the token, which is stored on a quorum and may be out.
func TestGrantAfterTheDecisionLeavesTheToken(t *testing.T) {
	newAttempt := func() *attempt {
		l := &Lock{quorum: 2}
		a := &attempt{l: l, k: l.keys("k"), byNode: make([]nodeAttempt, 3)}
		for i := range a.byNode {
			a.byNode[i].a, a.byNode[i].i = a, i
		}
		return a
	}
	grant := func(a *attempt, i int, value int64) []*writeBack {
		s := &a.byNode[i]
		s.state, s.value, s.top = granted, value, value
		return a.advance(s)
	}
	a := newAttempt()
	grant(a, 0, 5)
	if grant(a, 1, 5); !a.decided || a.token != 5 {
		t.Fatalf("decided %v, token %d", a.decided, a.token)
	}
	if out := grant(a, 2, 9); a.token != 5 || len(out) > 0 || !a.byNode[0].holds || !a.byNode[1].holds {
		t.Errorf("a grant of 9 made the token %d, %d write-backs", a.token, len(out))
	}
	a = newAttempt()
	grant(a, 0, 5)
	grant(a, 1, 5)
	out := grant(a, 2, 3)
	if len(out) != 1 || out[0].token != 5 {
		t.Fatalf("%d write-backs to a node that issued less", len(out))
	}
	var refused node.Reply
	refused.Outcome = node.Executed
	if more := out[0].apply(refused); a.token != 5 || len(more) > 0 || a.byNode[2].holds {
		t.Errorf("a write-back that was refused made the token %d", a.token)
	}
}
