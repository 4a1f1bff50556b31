package simulate

import (
	"fmt"
	"testing"
	"time"

	"locktorture/workload/history"
)

// Of one instant, the events that goroutines record in any order come in the same one: those of
// owners by their names, and an owner's renewals by their keys, behind what its client did.
func TestEventsOfOneInstantHaveOneOrder(t *testing.T) {
	event := func(owner, key string, op history.Op, renewal bool) history.Event {
		e := history.Event{Time: time.Millisecond, Owner: owner, Key: key, Op: op, Kind: history.OK}
		if renewal {
			e.Has |= history.HasBegan
		}
		return e
	}
	acts := []history.Event{
		event("a", "k1", history.Write, false), event("a", "k0", history.Release, false), // by one goroutine
		event("a", "k1", history.Extend, true), event("a", "k0", history.Lost, true), event("b", "k0", history.Extend, true),
	}
	const want = "[a write k1 a release k0 a lost k0 a extend k1 b extend k0]"
	for _, order := range [][]int{{0, 1, 2, 3, 4}, {4, 3, 2, 0, 1}, {0, 3, 1, 4, 2}, {2, 0, 4, 1, 3}} {
		var got listed
		o := newOrdered(&got)
		for _, i := range order {
			e := acts[i]
			o.Event(&e)
		}
		o.flush()
		if fmt.Sprint(got) != want {
			t.Errorf("in the order %v: %v, want %s", order, got, want)
		}
	}
}

type listed []string

// Event implements history.Sink.
func (l *listed) Event(e *history.Event) {
	*l = append(*l, fmt.Sprintf("%s %v %s", e.Owner, e.Op, e.Key))
}
