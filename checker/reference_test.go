package checker_test

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"

	"locktorture/checker"
	"locktorture/checker/internal/reference"
	"locktorture/workload/history"
)

var referenceSeeds = flag.Int("reference.seeds", 0, "random histories that TestReference holds against the reference judge")
var referenceFirst = flag.Uint64("reference.first", 1, "the first seed of TestReference")

// disagreements holds the judge's report on h against the reference's claims.
func disagreements(t *testing.T, h history.History) []string {
	r := checker.Check(t.Context(), h, checker.Options{SecondOpinion: true, Window: 32})
	report := reference.Report{}
	for _, f := range r.Violations {
		report[f.ID] = append(report[f.ID], reference.Finding{Key: f.Key, Witness: f.Witness})
	}
	wrong := reference.Compare(reference.Judge(h), report)
	for _, f := range r.Harness {
		wrong = append(wrong, "Porcupine disagrees: "+f.Text)
	}
	if fails := len(r.Violations) > 0; fails != (r.Verdict == checker.Fail) {
		wrong = append(wrong, "verdict "+string(r.Verdict))
	}
	return wrong
}

// TestReference holds the rules against a judge that knows nothing but the
// definitions: violations by key, and what each witness proves. Porcupine must
// agree on who held when. Millions more:
//
//	go test ./checker -run 'TestReference$' -reference.seeds 1000000 -timeout 1h
func TestReference(t *testing.T) {
	kinds := map[string]int{}
	for seed := *referenceFirst; seed < *referenceFirst+uint64(*referenceSeeds); seed++ {
		h := reference.Generate(seed)
		wrong := disagreements(t, h)
		if len(wrong) == 0 {
			continue
		}
		kind := strings.Join(strings.Fields(wrong[0])[:2], " ")
		if kinds[kind]++; kinds[kind] > 1 {
			continue
		}
		small := reference.Shrink(h, func(h history.History) bool {
			return slices.ContainsFunc(disagreements(t, h), func(s string) bool { return strings.HasPrefix(s, kind) })
		})
		t.Errorf("seed %d: %s\n%s%s", seed, strings.Join(wrong, "\n"), reference.Text(small), strings.Join(disagreements(t, small), "\n"))
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Errorf("%s: %d histories", kind, kinds[kind])
	}
}
