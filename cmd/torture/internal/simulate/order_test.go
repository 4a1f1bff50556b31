package simulate

import (
	"fmt"
	"testing"
	"time"

	"locktorture/workload/history"
)

// Of one instant, the events that goroutines record in any order come in the same one: those of
// owners by their names, and what is told of an owner's leases by their keys, behind what its client
// did, an extension before a loss. Processes are numbered in that order.
func TestEventsOfOneInstantHaveOneOrder(t *testing.T) {
	event := func(process int, kind history.Kind, owner string, op history.Op, key string) history.Event {
		e := history.Event{Time: time.Millisecond, Process: process, Kind: kind, Owner: owner, Op: op, Key: key}
		if (op == history.Extend || op == history.Lost) && kind != history.Invoke {
			e.Has = history.HasBegan
		}
		return e
	}
	done, asks := history.OK, history.Invoke
	byA := []history.Event{event(1, done, "a", history.Write, "k1"), event(1, asks, "a", history.Release, "k0")}
	renewed1 := []history.Event{event(2, asks, "a", history.Extend, "k1"), event(2, done, "a", history.Extend, "k1")}
	renewed0 := []history.Event{event(3, history.Fail, "a", history.Extend, "k0")}
	lost0 := []history.Event{event(4, done, "a", history.Lost, "k0")}
	renewedB := []history.Event{event(5, done, "b", history.Extend, "k0")}
	byC := []history.Event{event(6, asks, "c", history.Extend, "k9"), event(6, asks, "c", history.Write, "k0")} // by hand
	const want = "[0 ok a write k1 0 invoke a release k0 1 fail a extend k0 2 ok a lost k0 3 invoke a extend k1 3 ok a extend k1 4 ok b extend k0 5 invoke c extend k9 5 invoke c write k0]"
	for n, order := range [][][]history.Event{
		{byA, renewed1, renewed0, lost0, renewedB, byC}, {byC, renewedB, lost0, renewed0, renewed1, byA}, {renewed1, lost0, byC, byA, renewedB, renewed0},
	} {
		var got listed
		o := newOrdered(&got)
		for _, together := range order {
			for _, e := range together {
				o.Event(&e)
			}
		}
		o.flush()
		if fmt.Sprint(got) != want {
			t.Errorf("order %d:\n%v, want\n%s", n, got, want)
		}
	}
}

type listed []string

// Event implements history.Sink.
func (l *listed) Event(e *history.Event) {
	*l = append(*l, fmt.Sprintf("%d %v %s %v %s", e.Process, e.Kind, e.Owner, e.Op, e.Key))
}
