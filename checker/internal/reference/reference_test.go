package reference

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locktorture/workload/history"
)

// TestGenerate holds that every history is valid, and the same when it is
// written as text; and that the edges are there: each anomaly is proved in some
// histories, and absent from others.
func TestGenerate(t *testing.T) {
	const seeds = 3000
	all := answers(t, Generate, seeds)
	all["L9"] = answers(t, GenerateEffectless, seeds)["L9"]
	answers(t, GenerateWide, seeds)
	answers(t, GenerateLate, seeds)
	answers(t, GenerateCrowd, seeds)
	for id, n := range all {
		if n[Violation] < 2 || n[No] < seeds/5 {
			t.Errorf("%s: proved in %d histories, absent from %d, of %d", id, n[Violation], n[No], seeds)
		}
	}
}

// answers counts the histories by the answers about each anomaly.
func answers(t *testing.T, generate func(uint64) history.History, seeds uint64) map[string]map[Answer]int {
	seen := map[string]map[Answer]int{}
	for _, id := range Judges() {
		seen[id] = map[Answer]int{}
	}
	for seed := range seeds {
		h := generate(seed)
		if err := history.Validate(h.Events); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, Text(h))
		}
		back, err := history.Parse(Text(h))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, Text(h))
		}
		if Text(back) != Text(h) {
			t.Fatalf("seed %d: wrote\n%s, read\n%s", seed, Text(h), Text(back))
		}
		best := map[string]Answer{}
		for _, c := range Judge(h) {
			best[c.ID] = max(best[c.ID], c.Answer)
		}
		for id, n := range seen {
			n[best[id]]++
		}
	}
	return seen
}

// TestGolden holds the reference against the histories that say themselves what
// they must be judged to be.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("../../testdata/golden/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden histories", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.ReadAll(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	var header struct {
		Expectation struct {
			Violations []struct {
				ID      string
				Witness []int
			}
		}
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if err := json.Unmarshal([]byte(first), &header); err != nil {
		t.Fatal(err)
	}
	claims, expected := Judge(h), map[string]bool{}
	for _, v := range header.Expectation.Violations {
		expected[v.ID] = true
		shown := slices.ContainsFunc(claims, func(c Claim) bool { return c.ID == v.ID && c.Proves(v.Witness) })
		if slices.Contains(Judges(), v.ID) && !shown {
			t.Errorf("%s with witness %v: nothing shows it", v.ID, v.Witness)
		}
	}
	for _, c := range claims {
		if c.Answer == Violation && !expected[c.ID] {
			t.Errorf("%s is proved by %v, and not expected", c.ID, c.Proof)
		}
	}
}
