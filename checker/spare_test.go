package checker

import (
	"encoding/json"
	"testing"

	"locktorture/workload/history"
)

// TestSpareGrants shows that no rule looks at a grant once it is taken back: it
// makes no difference whether such a grant is overwritten or used again.
func TestSpareGrants(t *testing.T) {
	dropped := 0
	for seed := range uint64(400) {
		h := anyHistory(seed, 300)
		if err := history.Validate(h.Events); err != nil {
			t.Fatalf("seed %d: history breaks the format: %v", seed, err)
		}
		for _, second := range []bool{false, true} {
			o := Options{Counterfactual: true, SecondOpinion: second, Window: 4}
			again, overwritten := New(h.Header, o), New(h.Header, o)
			overwritten.spoil = func(g *grant) { *g, dropped = grant{}, dropped+1 }
			got, want := reported(t, overwritten, h), reported(t, again, h)
			if got != want {
				t.Fatalf("seed %d: overwritten %s\nused again %s", seed, got, want)
			}
		}
	}
	t.Logf("%d grants taken back", dropped)
	if dropped == 0 {
		t.Error("no grant was ever taken back")
	}
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
