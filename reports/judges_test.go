package reports

import (
	"encoding/json"
	"strings"
	"testing"

	"locktorture/checker"
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
