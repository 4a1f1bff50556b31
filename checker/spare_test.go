package checker

import (
	"encoding/json"
	"testing"
	"time"

	"locktorture/workload/history"
)

// TestSpareGrants shows that no rule looks at a grant once it is taken back: it
// makes no difference whether such a grant is overwritten or used again.
func TestSpareGrants(t *testing.T) {
	dropped := 0
	for seed := range uint64(60) {
		h := slips(seed, 2000)
		if seed%4 == 0 {
			h = anyHistory(seed, 2000)
		}
		for _, second := range []bool{false, true} {
			o := Options{Counterfactual: true, SecondOpinion: second, Window: 4}
			again, overwritten := New(h.Header, o), New(h.Header, o)
			overwritten.spoil = func(g *grant) { *g, dropped = grant{}, dropped+1 }
			if got, want := reported(t, overwritten, h), reported(t, again, h); got != want {
				t.Fatalf("seed %d: overwritten %s\nused again %s", seed, got, want)
			}
		}
	}
	if dropped < 1000 {
		t.Errorf("%d grants were taken back", dropped)
	}
}

// slips makes a history of n operations of a right lock, a few of which went
// wrong: leases end early, what was refused is granted, what was done is not.
func slips(seed uint64, n int) history.History {
	var buf history.Buffer
	g := newGenerator(1+int(seed%4), 3+int(seed%11), seed, buf.Event)
	g.unknown = 0.01
	g.operations(n)
	g.end()
	for i := range buf.Events {
		e := &buf.Events[i]
		switch slip := g.rng.IntN(40) == 0; {
		case !slip || e.Kind == history.Invoke || e.Kind == history.Info:
		case e.Op == history.Acquire && e.Kind == history.OK:
			e.ValidUntil = e.Time + time.Duration(g.rng.IntN(2000))
		case e.Op == history.Acquire:
			e.Kind, e.Fence = history.OK, uint64(1+g.rng.IntN(n/6))
		case e.Op == history.Release:
			e.Kind = history.Fail
		}
	}
	return history.History{Header: g.header(), Events: buf.Events}
}

func reported(t *testing.T, j *Judge, h history.History) string {
	t.Helper()
	j.Events(h.Events)
	r := j.Finish(t.Context(), h.Truncated)
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAnything judges histories that keep the format and nothing else: the judge
// neither breaks down nor disagrees with its second opinion.
func TestAnything(t *testing.T) {
	found := map[string]bool{}
	for seed := range uint64(200) {
		h := anyHistory(seed, 200)
		j := New(h.Header, Options{Counterfactual: true})
		j.Events(h.Events)
		r := j.Finish(t.Context(), h.Truncated)
		if j.broken != nil || len(j.crashed) > 0 {
			t.Fatalf("seed %d: broke down: %+v %+v", seed, j.broken, j.crashed)
		}
		checkTexts(t, r)
		for _, f := range r.Violations {
			found[f.ID] = true
		}
	}
	for id := range names {
		if id[0] == 'S' && !found[id] {
			t.Errorf("%s was never found: these histories do not reach its rule", id)
		}
	}
}
