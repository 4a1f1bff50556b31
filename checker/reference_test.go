package checker_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"locktorture/checker"
	"locktorture/checker/anomaly"
	"locktorture/checker/internal/reference"
	"locktorture/workload/history"
)

var referenceSeeds = flag.Int("reference.seeds", 2000, "random histories that TestReference holds against the reference judge")
var referenceShown = flag.Int("reference.shown", 1, "histories that TestReference prints of each kind of disagreement")
var referenceFirst = flag.Uint64("reference.first", 1, "the first seed of TestReference")

// disagreements holds the judge's report on h against the reference's claims.
func disagreements(t *testing.T, h history.History) []string {
	r := checker.Check(t.Context(), h, checker.Options{SecondOpinion: true, Window: 32})
	report := reference.Report{}
	for _, f := range r.Violations {
		report[f.ID] = append(report[f.ID], reference.Finding{Key: f.Key, Witness: f.Witness})
	}
	wrong := reference.Compare(decided(reference.Judge(h)), report)
	n, e := reference.Count(h), r.Evidence
	if e.Grants != n.Grants || e.Unknown != n.Unknown || e.Handovers < n.Handovers-(n.Most-n.Handovers) || e.Handovers > n.Most {
		wrong = append(wrong, fmt.Sprintf("Evidence counted: %+v, want %+v", e, n))
	}
	for _, f := range r.Harness {
		wrong = append(wrong, "Porcupine disagrees: "+f.Text)
	}
	for _, f := range slices.Concat(r.Violations, r.Suspicious) {
		if f.Text == "" || len(f.Owners) == 0 && f.ID[0] == 'S' || strings.Contains(f.Text, "could not be told") {
			wrong = append(wrong, fmt.Sprintf("Findings without story or owners: %+v", f))
		}
	}
	if fails := len(r.Violations) > 0; fails != (r.Verdict == checker.Fail) {
		wrong = append(wrong, "verdict "+string(r.Verdict))
	}
	return wrong
}

// decided are the claims about anomalies that the rules know.
func decided(claims []reference.Claim) []reference.Claim {
	return slices.DeleteFunc(claims, func(c reference.Claim) bool { return !slices.Contains(anomaly.IDs(), c.ID) })
}

// TestReference holds the rules against a judge that knows nothing but the
// definitions: violations by key, and what each witness proves. Porcupine must
// agree on who held when. Millions more:
//
//	go test ./checker -run 'TestReference$' -reference.seeds 1000000 -timeout 1h
func TestReference(t *testing.T) { compareSeeds(t, reference.Generate) }

// TestReferenceEffectless does so where releases that are acknowledged and change
// nothing are frequent (L9).
func TestReferenceEffectless(t *testing.T) { compareSeeds(t, reference.GenerateEffectless) }

// TestReferenceWide does so with quorums, reads, phases, lasting faults, single nodes'
// receipts, looks at nodes, standstills, hosts and missing ends beside it.
func TestReferenceWide(t *testing.T) { compareSeeds(t, reference.GenerateWide) }

// TestReferenceLate does so where invocations and losses are told late, by their own stamps.
func TestReferenceLate(t *testing.T) { compareSeeds(t, reference.GenerateLate) }

// TestReferenceCrowd does so where several processes act for one owner, which may have several
// leases at once.
func TestReferenceCrowd(t *testing.T) { compareSeeds(t, reference.GenerateCrowd) }

func compareSeeds(t *testing.T, generate func(seed uint64) history.History) {
	t.Helper()
	kinds := map[string]int{}
	for seed := *referenceFirst; seed < *referenceFirst+uint64(*referenceSeeds); seed++ {
		h := generate(seed)
		wrong := disagreements(t, h)
		if len(wrong) == 0 {
			continue
		}
		kind := strings.Join(strings.Fields(wrong[0])[:2], " ")
		if kinds[kind]++; kinds[kind] > *referenceShown {
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
