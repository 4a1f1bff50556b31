package checker

import (
	"slices"
	"testing"
	"time"

	"locktorture/workload/history"
)

// TestArrivalIsNotIssue judges writes of children, which say themselves when they
// made them, and which the harness heard of late: what was issued in time is no
// zombie, and what only arrived in another's section did not interleave. Without
// a word of the child's own, or when it says otherwise, it is.
func TestArrivalIsNotIssue(t *testing.T) {
	const milli = time.Millisecond
	for _, c := range []struct {
		name string
		said time.Duration // 0: the child says nothing
		want Verdict
		ids  []string
	}{
		{"in its own hold", 40 * milli, Pass, nil},
		{"in its hold's last moment", 60 * milli, Pass, nil},
		{"in the other's hold", 90 * milli, Fail, []string{"S3"}},
		{"nothing", 0, Fail, []string{"S3"}},
	} {
		a := history.Event{Process: 0, Key: "k", Owner: "a"}
		b := history.Event{Process: 1, Key: "k", Owner: "b"}
		var events []history.Event
		add := func(e history.Event, kind history.Kind, op history.Op, at time.Duration) {
			e.Kind, e.Op, e.Time, e.Index = kind, op, at, len(events)
			events = append(events, e)
		}
		write := func(e history.Event, value string, seq uint64, at, said time.Duration) {
			e.Process, e.Value = e.Process+10, value
			if said > 0 {
				e.Began, e.Has = said, history.HasBegan
			}
			add(e, history.Invoke, history.Write, at)
			e.Seq, e.Has = seq, e.Has|history.HasSeq
			add(e, history.OK, history.Write, at)
		}
		add(a, history.Invoke, history.Acquire, 0)
		add(a, history.OK, history.Acquire, 1*milli)
		write(a, "a1", 1, 10*milli, 10*milli)
		add(a, history.Invoke, history.Release, 62*milli)
		add(b, history.Invoke, history.Acquire, 65*milli)
		add(b, history.OK, history.Acquire, 70*milli)
		write(b, "b1", 2, 80*milli, 80*milli)
		write(a, "a2", 3, 95*milli, c.said)
		write(b, "b2", 4, 99*milli, 99*milli)
		add(a, history.OK, history.Release, 100*milli)
		add(b, history.Invoke, history.Release, 110*milli)
		add(b, history.OK, history.Release, 111*milli)
		add(history.Event{Process: history.Nemesis, Value: history.PhaseEnd}, history.OK, history.Phase, 200*milli)
		h := history.History{Header: history.Header{Type: "history", Version: 1, Nodes: 1, Quorum: 1, TTL: time.Second}, Events: events}
		r := Check(t.Context(), h, Options{})
		var ids []string
		for _, f := range r.Violations {
			if !slices.Contains(ids, f.ID) {
				ids = append(ids, f.ID)
			}
		}
		for _, id := range c.ids {
			if !slices.Contains(ids, id) {
				t.Errorf("it says %s: %v, want %s", c.name, ids, id)
			}
		}
		if r.Verdict != c.want {
			t.Errorf("it says %s: %s %+v, want %s", c.name, r.Verdict, r.Violations, c.want)
		}
	}
}
