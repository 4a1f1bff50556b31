package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/workload/history"
)

func fence(n int) func(*history.Event) {
	return func(e *history.Event) { e.Fence = uint64(n) }
}

// write is an accepted write of owner n, with everything that more says.
func (s *script) write(n int, seq int, more ...func(*history.Event)) {
	s.do(n, history.Write, "k", 1, append(more, func(e *history.Event) {
		e.Value, e.Seq, e.Has = fmt.Sprint("v", seq), uint64(seq), e.Has|history.HasSeq
	})...)
}

func base(n int) func(*history.Event) {
	return func(e *history.Event) { e.Base, e.Has = uint64(n), e.Has|history.HasBase }
}

// sharedBase is two updates from version 1, with n others between them.
func sharedBase(s *script, n int) {
	s.do(1, history.Acquire, "k", 1)
	s.do(2, history.Acquire, "l", 1)
	s.write(1, 1)
	s.write(1, 2, base(1))
	for i := range n {
		s.write(1, 3+i, base(2+i))
	}
	s.write(1, 3+n, base(1))
}

// sharedToken is a grant, and another with its token that had been asked for
// before it and was answered after n others.
func sharedToken(s *script, n int) {
	s.add(0, history.Invoke, history.Acquire, by(0, "k"))
	for i := range n + 1 {
		s.do(1+i%2, history.Acquire, "k", 1, fence(i+1))
		s.do(1+i%2, history.Release, "k", 1)
	}
	s.add(0, history.OK, history.Acquire, func(e *history.Event) { by(0, "k")(e); fence(1)(e); until(s.now + time.Hour)(e) })
	s.now++
	s.do(0, history.Release, "k", 1)
}

// staleUnknown is a write of unknown outcome that landed behind one with a
// higher token, after n others with its own.
func staleUnknown(s *script, n int) {
	s.do(1, history.Acquire, "k", 1, fence(1))
	for _, kind := range []history.Kind{history.Invoke, history.Info} {
		s.add(9, kind, history.Write, func(e *history.Event) { e.Key, e.Owner, e.Value, e.Fence = "k", "o1", "lost", 1 })
	}
	for i := range n {
		s.write(1, 1+i, fence(1))
	}
	s.do(1, history.Release, "k", 1)
	s.do(2, history.Acquire, "k", 1, fence(2))
	s.write(2, n+1, fence(2))
	s.do(2, history.Release, "k", 1)
	s.add(history.Store, history.OK, history.Audit, func(e *history.Event) {
		by(1, "k")(e)
		fence(1)(e)
		e.Value, e.Seq, e.Has = "lost", uint64(n+2), history.HasSeq
	})
}

// TestWindows judges what lies far apart, at, below and above what is remembered:
// it is found, or said to be undecided, and never passed over.
func TestWindows(t *testing.T) {
	for _, c := range []struct {
		name   string
		make   func(*script, int)
		id     string
		found  []int // apart, and found
		beyond []int // further apart than is remembered
	}{
		{"updates from one version", sharedBase, "S3", []int{0, 31, 32, 33, 40, keptUpdates - 2, keptUpdates - 1}, []int{keptUpdates, keptUpdates + 1, keptUpdates + 100}},
		{"grants with one token", sharedToken, "S4b", []int{0, 62, 63, 64, 70, mostTokens - 1}, []int{mostTokens, mostTokens + 1, mostTokens + 500}},
		{"an unknown write behind a newer one", staleUnknown, "S2", []int{0, 62, 63, 64, 65, 70, 5000}, nil},
	} {
		for _, apart := range slices.Concat(c.found, c.beyond) {
			var s script
			c.make(&s, apart)
			r := Check(t.Context(), history.History{
				Header: history.Header{TTL: time.Hour, Nodes: 1, Quorum: 1, Fenced: true}, Events: s.end(),
			}, Options{})
			undecided := slices.ContainsFunc(r.Inconclusive, func(f Finding) bool { return f.ID == "V5" && strings.Contains(f.Text, "("+c.id+")") })
			found := slices.ContainsFunc(r.Violations, func(f Finding) bool { return f.ID == c.id })
			if slices.Contains(c.found, apart) {
				if !found || undecided {
					t.Errorf("%s, %d apart: found %t, undecided %t; want it found: %v %v", c.name, apart, found, undecided, short(r.Violations), r.Inconclusive)
				}
			} else if found || !undecided || r.Verdict != Inconclusive {
				t.Errorf("%s, %d apart: %s, found %t, undecided %t; want it undecided: %v", c.name, apart, r.Verdict, found, undecided, short(r.Violations))
			}
		}
	}
}
