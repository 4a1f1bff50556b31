package checker

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locktorture/checker/anomaly"
	"locktorture/workload/history"
)

// An expectation is what a golden history must be judged to be. It stands in
// the history's header, where readers ignore it.
type expectation struct {
	Case         string     `json:"case"` // in words
	Verdict      Verdict    `json:"verdict"`
	Violations   []expected `json:"violations"`
	Breaches     []expected `json:"breaches,omitempty"`
	Inconclusive []expected `json:"inconclusive,omitempty"`
}

type expected struct {
	ID      string `json:"id"`
	Witness []int  `json:"witness,omitempty"`
}

const (
	goldenDir    = "testdata/golden"
	rejectedName = ".rejected.jsonl"
	acceptedName = ".accepted.jsonl"
)

// TestGolden judges the golden histories, read as any file is: for every
// property one that is rejected for it, and its twin, which passes.
func TestGolden(t *testing.T) {
	files, err := os.ReadDir(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	pairs := map[string]int{}
	for _, file := range files {
		id, _, _ := strings.Cut(file.Name(), ".")
		t.Run(file.Name(), func(t *testing.T) {
			want := judgeGolden(t, file.Name())
			told := want.IDs()
			switch {
			case strings.HasSuffix(file.Name(), rejectedName) && (want.Verdict == Pass || !slices.Contains(told, id)):
				t.Errorf("a rejected history of %s must state it: %s %v", id, want.Verdict, told)
			case strings.HasSuffix(file.Name(), acceptedName) && (want.Verdict != Pass || len(told) > 0):
				t.Errorf("an accepted history must pass: %s %v", want.Verdict, told)
			case !strings.HasSuffix(file.Name(), rejectedName) && !strings.HasSuffix(file.Name(), acceptedName):
				t.Errorf("want a name that ends in %s or %s", rejectedName, acceptedName)
			}
		})
		pairs[id]++
	}
	for _, id := range anomaly.IDs() {
		if want := 2; id != "H1" && pairs[id] != want { // H1 is no property of a history
			t.Errorf("%s has %d golden histories, want a rejected one and its accepted twin", id, pairs[id])
		}
		delete(pairs, id)
	}
	for id := range pairs {
		t.Errorf("%s is no property", id)
	}
}

// judgeGolden judges a golden history as it states, and returns what it states.
func judgeGolden(t *testing.T, name string) expectation {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(goldenDir, name))
	if err != nil {
		t.Fatal(err)
	}
	header, _, _ := bytes.Cut(file, []byte("\n"))
	var stated struct{ Expectation *expectation }
	if err := json.Unmarshal(header, &stated); err != nil || stated.Expectation == nil {
		t.Fatalf("no expectation in the header: %v", err)
	}
	want := *stated.Expectation
	source, err := history.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	r, err := CheckReader(t.Context(), source, Options{SecondOpinion: true, Counterfactual: true})
	if err != nil {
		t.Fatal(err)
	}
	got := expectation{want.Case, r.Verdict, expectedOf(r.Violations), expectedOf(r.Breaches), expectedOf(r.Inconclusive)}
	a, _ := json.Marshal(got)
	if b, _ := json.Marshal(want); !bytes.Equal(a, b) {
		t.Errorf("judged %s\nstated %s", a, b)
	}
	return want
}

func (e expectation) IDs() (ids []string) {
	for _, f := range slices.Concat(e.Violations, e.Breaches, e.Inconclusive) {
		ids = append(ids, f.ID)
	}
	return ids
}

func expectedOf(found []Finding) []expected {
	all := []expected{}
	for _, f := range found {
		all = append(all, expected{f.ID, f.Witness})
	}
	return all
}
