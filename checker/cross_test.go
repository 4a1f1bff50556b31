package checker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/reference"
	"locktorture/workload/history"
)

// The definitions of the catalogue, word for word and over all pairs, on
// histories small enough for that.

// A lease is a grant with all that became of it.
type lease struct {
	owner   string
	by      int // process
	mode    history.Mode
	fence   uint64
	inv, ok time.Duration
	idx     int
	d, stop time.Duration
	extends []answer
	release *answer
}

type answer struct {
	inv, ok time.Duration
	idx     int
}

func (l *lease) until() time.Duration { return min(l.d, l.stop) }

func excludes(a, b *lease) bool {
	return a.owner != b.owner && (a.mode == history.Exclusive || b.mode == history.Exclusive)
}

// leases reads a history of one key in which no owner takes what it holds.
func leases(h history.History) []*lease {
	var all []*lease
	last := map[string]*lease{}
	open := map[int]history.Event{}
	for _, e := range h.Events {
		l := last[e.Owner]
		switch {
		case e.Kind == history.Invoke:
			open[e.Process] = e
			if e.Op == history.Release && l != nil {
				l.stop = min(l.stop, e.Time)
			}
		case e.Op == history.Acquire && e.Kind == history.OK:
			l = &lease{by: e.Process, owner: e.Owner, mode: e.Mode, fence: e.Fence, inv: open[e.Process].Time, ok: e.Time, idx: e.Index, stop: ledger.Never}
			l.d = l.inv + h.Header.TTL - h.Header.Drift
			all, last[e.Owner] = append(all, l), l
		case e.Op == history.Extend && e.Kind == history.OK:
			l.extends = append(l.extends, answer{open[e.Process].Time, e.Time, e.Index})
			l.d = open[e.Process].Time + h.Header.TTL - h.Header.Drift
		case e.Op == history.Extend && e.Kind == history.Fail:
			l.stop = min(l.stop, e.Ended)
		case e.Op == history.Release && e.Kind == history.OK:
			l.release = &answer{open[e.Process].Time, e.Time, e.Index}
		}
	}
	return all
}

// bruteDouble is S1: definite holds overlap by more than epsilon.
func bruteDouble(all []*lease, eps time.Duration) map[string]bool {
	found := map[string]bool{}
	for i, a := range all {
		for _, b := range all[i+1:] {
			if excludes(a, b) && min(a.until(), b.until())-max(a.ok, b.ok) > eps {
				found[fmt.Sprint(a.idx, " ", b.idx)] = true
			}
		}
	}
	return found
}

// bruteAcross is S6: an extension, or a release, succeeded although another's
// definite hold lies before it.
func bruteAcross(all []*lease, eps time.Duration) map[string]bool {
	found := map[string]bool{}
	for _, g := range all {
		done := slices.Clone(g.extends)
		if g.release != nil {
			done = append(done, *g.release)
		}
		for _, op := range done {
			for _, x := range all {
				if excludes(g, x) && min(x.until(), op.inv)-max(x.ok, g.ok) > eps && x.idx > g.idx {
					found[fmt.Sprint(g.idx, " ", op.idx)] = true
				}
			}
		}
	}
	return found
}

// bruteOrder is S4, and bruteShared S4b.
func bruteOrder(all []*lease, eps time.Duration) (order, shared map[int]bool) {
	order, shared = map[int]bool{}, map[int]bool{}
	for _, a := range all {
		for _, b := range all {
			readers := a.mode == history.Shared && b.mode == history.Shared
			if a != b && !readers && (a.by == b.by && a.idx < b.idx || a.ok+eps < b.inv) && b.fence <= a.fence {
				order[b.idx] = true
			}
			if !readers && a.ok <= b.ok && a.idx < b.idx && a.fence == b.fence {
				shared[b.idx] = true
			}
		}
	}
	return order, shared
}

// compare judges h and holds the findings against the definitions and against
// Porcupine's opinion on the whole history.
func compare(h history.History) error {
	j := New(h.Header, Options{SecondOpinion: true, Limit: 1000})
	for i := range h.Events {
		j.Event(&h.Events[i])
	}
	r := j.Finish(context.Background(), false)
	all, eps := leases(h), h.Header.Epsilon
	found := map[string]map[string]bool{}
	for _, id := range []string{"S1", "S4", "S4b", "S6", "S7"} {
		found[id] = map[string]bool{}
	}
	for _, f := range r.Violations {
		w := f.Witness
		switch f.ID {
		case "S1":
			found["S1"][grantsOf(all, w)] = true
		case "S6":
			found["S6"][fmt.Sprint(w[0], " ", w[len(w)-1])] = true
		case "S4", "S4b", "S7":
			found[f.ID][fmt.Sprint(w[len(w)-1])] = true
		}
	}
	order, shared := bruteOrder(all, eps)
	stillborn := map[int]bool{}
	for _, l := range all {
		if l.ok >= l.inv+h.Header.TTL-h.Header.Drift {
			stillborn[l.idx] = true
		}
	}
	double, across := bruteDouble(all, eps), bruteAcross(all, eps)
	for id, want := range map[string]map[string]bool{
		"S1": double, "S6": across, "S4": strs(order), "S4b": strs(shared), "S7": strs(stillborn),
	} {
		if !maps.Equal(found[id], want) {
			return fmt.Errorf("%s: judged %v, by definition %v", id, keysOf(found[id]), keysOf(want))
		}
	}
	if wrong := reference.Compare(reference.Judge(h), referenceReport(r)); len(wrong) > 0 {
		return fmt.Errorf("the reference: %s", strings.Join(wrong, "; "))
	}
	if len(r.Harness) > 0 {
		return fmt.Errorf("by definition %v %v, and %s", keysOf(double), keysOf(across), r.Harness[0].Text)
	}
	if o := r.SecondOpinion; len(all) > 0 && (o.Windows == 0 || o.Undecided > 0) {
		return fmt.Errorf("no second opinion: %+v", o)
	}
	return nil
}

// referenceReport is a report as the reference judge reads it.
func referenceReport(r Report) reference.Report {
	out := reference.Report{}
	for _, f := range r.Violations {
		out[f.ID] = append(out[f.ID], reference.Finding{Key: f.Key, Witness: f.Witness})
	}
	return out
}

// grantsOf names the grants in a witness.
func grantsOf(all []*lease, witness []int) string {
	s := ""
	for _, i := range witness {
		if slices.ContainsFunc(all, func(l *lease) bool { return l.idx == i }) {
			s += fmt.Sprint(" ", i)
		}
	}
	return s[1:]
}

func strs(in map[int]bool) map[string]bool {
	out := map[string]bool{}
	for i := range in {
		out[fmt.Sprint(i)] = true
	}
	return out
}

func keysOf(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }

// TestRandomHistories compares the judge, the definitions, the reference judge
// and Porcupine on random histories of up to 30 operations.
func TestRandomHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := draw(t)
		if err := compare(h); err != nil {
			t.Fatalf("%v\nheader %+v\n%s", err, h.Header, sentences(h))
		}
	})
}

func sentences(h history.History) string {
	s := ""
	for _, e := range h.Events {
		s += fmt.Sprintf("%3d %v %s %v %v %v fence %d\n", e.Index, e.Time, e.Owner, e.Kind, e.Op, e.Mode, e.Fence)
	}
	return s
}

// draw makes a history of two or three owners on one key. Owners are
// sequential, and take nothing that they still hold.
func draw(t *rapid.T) history.History {
	b := newBuilder(time.Duration(rapid.IntRange(3, 40).Draw(t, "ttl")), time.Duration(rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "epsilon")))
	owners := rapid.IntRange(2, 3).Draw(t, "owners")
	for ops := rapid.SampledFrom([]int{6, 12, 30}).Draw(t, "operations"); b.ops < ops; {
		w := rapid.IntRange(0, owners-1).Draw(t, "owner")
		b.now += time.Duration(rapid.IntRange(0, 4).Draw(t, "step"))
		choices := b.choices(w)
		c := rapid.SampledFrom(choices).Draw(t, "choice")
		c.mode = history.Mode(rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "mode"))
		c.fence = uint64(rapid.IntRange(1, 6).Draw(t, "fence"))
		c.early = time.Duration(rapid.IntRange(0, 6).Draw(t, "early"))
		b.apply(w, c)
	}
	return b.history()
}
