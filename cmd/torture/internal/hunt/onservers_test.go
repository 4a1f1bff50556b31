package hunt

import (
	"slices"
	"testing"

	"locktorture/cmd/torture/internal/search"
)

// What plays on real servers showed is counted by the finding, whatever it happened under;
// plays that say nothing count for nothing, and are named.
func TestRealCounts(t *testing.T) {
	f := search.Finding{ID: "S1", Blame: "release", Phase: "section"}
	elsewhere, other := f, search.Finding{ID: "S1", Blame: "acquire"}
	elsewhere.Phase = "expiry"
	r := &Real{Absent: map[string]int{}}
	for _, o := range []search.Outcome{
		{Findings: []search.Finding{elsewhere}, Fired: map[string]bool{"expiry": false}},
		{Findings: []search.Finding{other}, Fired: map[string]bool{"expiry": false, "command:DEL": true}},
		{Fired: map[string]bool{"expiry": true}},
		{Void: "a machine too busy", Findings: []search.Finding{f}},
	} {
		r.add(o, f)
	}
	if r.Shown != 1 || r.Plays != 3 || !slices.Equal(r.Others, []string{"S1"}) || !slices.Equal(r.Void, []string{"a machine too busy"}) {
		t.Errorf("%+v: want the finding in 1 of 3 plays, another beside it, and one play void", r)
	}
	if len(r.Absent) != 1 || r.Absent["expiry"] != 1 {
		t.Errorf("%v: want the moment that did not come in a play without the finding", r.Absent)
	}
}
