package checker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/workload/history"
)

// TestManyEntrants has a process refused its release of a lease that it took once more
// before n other processes of its owner did: the owner knows from then on. While the
// owner has an older lease too, taken by the same process, the word of a process that
// is forgotten may be of that one: it is said to be undecided.
func TestManyEntrants(t *testing.T) {
	for _, c := range []struct {
		others    int
		givenBack bool // the older lease
		want      Verdict
	}{
		{0, false, Fail}, {1, false, Fail}, {30, false, Fail}, {31, false, Fail}, {32, false, Inconclusive}, {60, false, Inconclusive},
		{31, true, Fail}, {32, true, Fail}, {60, true, Fail},
	} {
		var s script
		one := func(e *history.Event) { e.Key, e.Owner = "k", "o" }
		do := func(process int, op history.Op, answer history.Kind) {
			s.add(process, history.Invoke, op, one)
			s.add(process, answer, op, one)
		}
		s.add(1, history.Invoke, history.Acquire, one)
		s.now += time.Second
		s.add(1, history.OK, history.Acquire, func(e *history.Event) { // over before it is told
			one(e)
			e.ValidUntil, e.Has = time.Millisecond, history.HasValidUntil
		})
		if c.givenBack {
			do(1, history.Release, history.OK)
		}
		s.now += 3 * time.Hour
		do(0, history.Acquire, history.OK)
		do(1, history.Acquire, history.OK)
		for p := range c.others {
			do(2+p, history.Acquire, history.OK)
			do(2+p, history.Release, history.OK)
		}
		do(1, history.Release, history.Fail)
		s.now += time.Second
		for _, kind := range []history.Kind{history.Invoke, history.OK} {
			s.add(0, kind, history.Write, func(e *history.Event) { one(e); e.Value = "v" })
		}
		r := Check(t.Context(), history.History{Header: history.Header{TTL: time.Hour, Nodes: 1, Quorum: 1}, Events: s.finish()}, Options{})
		found := slices.ContainsFunc(r.Violations, func(f Finding) bool { return f.ID == "S8" })
		said := slices.ContainsFunc(r.Inconclusive, func(f Finding) bool { return f.ID == "V5" && strings.Contains(f.Text, "S8") })
		if found != (c.want == Fail) || said != (c.want == Inconclusive) {
			t.Errorf("%d others, older lease given back %t: S8 found %t, said to be undecided %t: %v %v", c.others, c.givenBack, found, said, short(r.Violations), r.Inconclusive)
		}
	}
}
