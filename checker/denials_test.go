package checker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/workload/history"
)

// TestManyRefusedProcesses judges a write by one of an owner's processes that had just
// been refused, within the clocks' uncertainty of what n others were told before: its
// own order needs no clock. Beyond what is remembered it is said to be undecided.
func TestManyRefusedProcesses(t *testing.T) {
	for _, c := range []struct {
		others int
		want   Verdict
	}{{0, Fail}, {3, Fail}, {4, Fail}, {5, Fail}, {31, Fail}, {32, Inconclusive}, {50, Inconclusive}} {
		var s script
		one := func(e *history.Event) { e.Key, e.Owner = "k", "o" }
		s.add(0, history.Invoke, history.Acquire, one)
		s.add(0, history.OK, history.Acquire, one)
		s.now += time.Second
		for p := range c.others + 1 {
			s.add(1+p, history.Invoke, history.Extend, one)
			s.add(1+p, history.Fail, history.Extend, func(e *history.Event) { one(e); e.Err = "lease lost" })
		}
		for _, kind := range []history.Kind{history.Invoke, history.OK} {
			s.add(1+c.others, kind, history.Write, func(e *history.Event) { one(e); e.Value = "v" })
		}
		s.now += time.Second
		r := Check(t.Context(), history.History{
			Header: history.Header{TTL: time.Hour, Epsilon: time.Second, Nodes: 1, Quorum: 1}, Events: s.finish(),
		}, Options{})
		found := slices.ContainsFunc(r.Violations, func(f Finding) bool { return f.ID == "S8" })
		said := slices.ContainsFunc(r.Inconclusive, func(f Finding) bool { return f.ID == "V5" && strings.Contains(f.Text, "(S8)") })
		if r.Verdict != c.want || found != (c.want == Fail) || said != (c.want == Inconclusive) {
			t.Errorf("%d others refused: %s, S8 found %t, said to be undecided %t; want %s: %v %v", c.others, r.Verdict, found, said, c.want, short(r.Violations), r.Inconclusive)
		}
	}
}
