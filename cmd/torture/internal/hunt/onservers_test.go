package hunt

import (
	"slices"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/cmd/torture/internal/search"
	"locktorture/workload"
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

// A round that was made small in virtual time may end before its sections do. On servers it
// goes on until one can have ended.
func TestRoundThatEndsBeforeItsSectionsIsPlayed(t *testing.T) {
	redistest.RequireServer(t)
	l, err := catalogue.Builtin().Find("exists-set")
	if err != nil {
		t.Fatal(err)
	}
	r := search.Round{
		Seed: 1, Clients: 2, TTL: time.Second, Duration: 500 * time.Millisecond,
		Load: config.Load{Keys: 1, Hold: workload.Fixed(2 * time.Second), Think: workload.Fixed(10 * time.Millisecond), Writes: 2, Mode: workload.ModeExclusive},
	}
	var lasted time.Duration
	play := pretended(func(c config.Config) bool { lasted = c.Duration; return true })
	if _, err := OnServers(t.Context(), l, 1, play, t.TempDir(), r, search.Finding{ID: "S1"}, 1); err != nil || lasted < 2*time.Second {
		t.Errorf("played for %v: %v", lasted, err)
	}
}
