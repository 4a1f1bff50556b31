package reports

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"locktorture/checker"
	"locktorture/checker/anomaly"
)

// TestVoidIsNotOK: what a history does not decide is "not judged" on every surface,
// with the reason, and never "ok". A violation that is proved stands.
func TestVoidIsNotOK(t *testing.T) {
	const why = "the run came to harm at 1.000000 s"
	r := &Run{Report: checker.Report{
		Verdict: checker.HarnessError,
		Void:    []checker.Void{{IDs: []string{"L1", "L2", "L3", "L5", "L7", "S1"}, Why: why}},
	}}
	want := map[string]string{"liveness": "not judged", "exclusion": "judged in part", "tokens": "ok"}
	for _, j := range Judges(r.Report) {
		if status, tested := want[j.Name]; tested && j.Status() != status {
			t.Errorf("%s: %s, want %s", j.Name, j.Status(), status)
		}
	}
	if text := r.judged(); !strings.Contains(text, "liveness not judged ("+why+")") || !strings.Contains(text, "tokens ok ·") {
		t.Error(text)
	}
	text, err := json.Marshal(r.results())
	if err != nil || !strings.Contains(string(text), `"liveness":"not judged"`) {
		t.Errorf("%v %s", err, text)
	}
	if xml := string(r.junit()); !strings.Contains(xml, "not judged: "+why) || strings.Contains(xml, "skipped") {
		t.Error(xml)
	}
	r.Report.Violations = []checker.Finding{{ID: "L1"}}
	for _, j := range Judges(r.Report) {
		if j.Name == "liveness" && j.Status() != "VIOLATED" {
			t.Errorf("liveness: %s, want VIOLATED", j.Status())
		}
	}
}

// TestNothingToJudgeIsNotOK: of a property that nothing in the history could break, as of tokens
// where none was given, "ok" would say too much.
func TestNothingToJudgeIsNotOK(t *testing.T) {
	tokens := anomaly.Of(anomaly.Tokens)
	for nothing, want := range map[string]string{strings.Join(tokens, " "): "had nothing to judge", tokens[0]: "ok", "": "ok"} {
		for _, j := range Judges(checker.Report{Nothing: strings.Fields(nothing)}) {
			if j.Name == string(anomaly.Tokens) && j.Status() != want {
				t.Errorf("nothing to judge for %q: %s, want %s", nothing, j.Status(), want)
			}
		}
	}
}

// TestWorstFirst: the stories that a reader is told first are one of each class, and
// what every lock without tokens shows does not hide what this one did wrong.
func TestWorstFirst(t *testing.T) {
	var r checker.Report
	for i, id := range []string{"S3z", "S3z", "S3", "S1", "S1", "L8", "S5", "S1", "S5", "S3z", "S2"} {
		r.Violations = append(r.Violations, checker.Finding{ID: id, Key: fmt.Sprint(i), Accepted: id == "S2"})
	}
	var got []string
	for _, f := range WorstFirst(r) {
		got = append(got, f.ID+" "+f.Key)
	}
	if want := "S5 6, S1 3, L8 5, S5 8, S1 4, S1 7, S3 2, S3z 0, S3z 1, S3z 9, S2 10"; strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, ", "), want)
	}
}

// TestTallyOfFailure: of violations that are not told, each class is named with its number.
func TestTallyOfFailure(t *testing.T) {
	r := &Run{Report: checker.Report{
		Violations: []checker.Finding{{ID: "S3z"}, {ID: "S1"}, {ID: "S1"}, {ID: "L8", Accepted: true}},
		Totals:     map[string]int{"S3z": 7},
	}}
	if got := strings.Join(r.Found(), "  "); got != "S1 ×2  S3z ×7" {
		t.Error(got)
	}
}
