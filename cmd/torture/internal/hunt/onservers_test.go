package hunt

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/search"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/watch"
	"locktorture/reports"
	"locktorture/workload"
)

// What plays on real servers showed is counted by the finding, whatever it happened under;
// plays that say nothing count for nothing, and are named.
func TestRealCounts(t *testing.T) {
	f := search.Finding{ID: "S1", Blame: "release", Phase: "section"}
	elsewhere, other := f, search.Finding{ID: "S1", Blame: "acquire"}
	elsewhere.Phase = "expiry"
	r := &Real{Absent: map[string]int{}, Idle: map[string]int{}}
	for _, o := range []search.Outcome{
		{Findings: []search.Finding{elsewhere}, Fired: map[string]bool{"expiry": false}},
		{Findings: []search.Finding{other}, Fired: map[string]bool{"expiry": false, "command:DEL": true}},
		{Fired: map[string]bool{"expiry": true}, Idle: map[string]int{"kill: moment never came": 2}, Suspected: []search.Finding{f, other}, Stalled: time.Second},
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
	if r.Suspect != 1 || r.Stalled != time.Second {
		t.Errorf("suspected in %d, stood still for %v: want 1 and 1s", r.Suspect, r.Stalled)
	}
	if len(r.Idle) != 1 || r.Idle["kill: moment never came"] != 2 {
		t.Errorf("%v: want the faults that did nothing in a play without the finding", r.Idle)
	}
}

// Where a finding does not show in all plays, the reasons that are known are given.
func TestRealExplains(t *testing.T) {
	for name, c := range map[string]struct {
		real    Real
		virtual *simulate.Sturdy
		want    []string
	}{
		"shown in all":           {Real{Shown: 2, Plays: 2}, &simulate.Sturdy{Shown: 3, Of: 10}, nil},
		"a moment never came":    {Real{Plays: 2, Absent: map[string]int{"expiry": 1}}, &simulate.Sturdy{Shown: 10, Of: 10}, []string{"expiry, to which a step is locked, did not come in 1 of the 2", "clients or servers were too slow"}},
		"a fault did nothing":    {Real{Shown: 1, Plays: 2, Idle: map[string]int{"kill: missed": 3}}, &simulate.Sturdy{Shown: 10, Of: 10}, []string{"3 did nothing: kill: missed", "too slow"}},
		"one order of many":      {Real{Plays: 2}, &simulate.Sturdy{Shown: 2, Of: 10}, []string{"every step came", "in 2 of 10 plays"}},
		"not proved":             {Real{Plays: 1, Suspect: 1}, &simulate.Sturdy{Shown: 10, Of: 10}, []string{"it is suspected", "too slow"}},
		"a machine that stalls":  {Real{Plays: 1, Stalled: time.Second}, &simulate.Sturdy{Shown: 10, Of: 10}, []string{"every step came", "stood still for as long as 1s", "too slow"}},
		"a schedule of messages": {Real{Plays: 2}, nil, []string{"every step came", "the deviations alone"}},
	} {
		c.real.Explain(c.virtual)
		if len(c.real.Why) != len(c.want) {
			t.Errorf("%s: %q", name, c.real.Why)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(c.real.Why[i], want) {
				t.Errorf("%s: %q: want %q", name, c.real.Why[i], want)
			}
		}
	}
}

// smallRound is a round of a lock that is known to grant twice, without faults.
func smallRound(t *testing.T) (catalogue.Lock, search.Round) {
	t.Helper()
	l, err := catalogue.Builtin().Find("exists-set")
	if err != nil {
		t.Fatal(err)
	}
	return l, search.Round{
		Seed: 1, Clients: 2, TTL: time.Second, Duration: time.Second,
		Load: config.Load{Keys: 1, Hold: workload.Fixed(10 * time.Millisecond), Think: workload.Fixed(10 * time.Millisecond), Writes: 2, Mode: workload.ModeExclusive},
	}
}

// Plays that say nothing are made up for, so long as some say something.
func TestVoidPlaysAreMadeUpFor(t *testing.T) {
	redistest.RequireServer(t)
	l, r := smallRound(t)
	for _, c := range []struct{ void, plays, voids int }{{0, 2, 0}, {1, 2, 1}, {9, 0, 4}} {
		begun := 0
		play := func(ctx context.Context, cfg config.Config, o run.Options) (*reports.Run, error) {
			if begun++; begun <= c.void {
				return nil, errors.New("no server started")
			}
			return pretended(func(config.Config) bool { return true })(ctx, cfg, o)
		}
		real, err := (Servers{Lock: l, Nodes: 1, Play: play, Out: t.TempDir()}).Show(t.Context(), r, search.Finding{ID: "S1"}, 2)
		if err != nil || real.Plays != c.plays || len(real.Void) != c.voids {
			t.Errorf("of two plays, with the first %d void: %+v, %v", c.void, real, err)
		}
	}
}

// Servers get the messages of a round at the pace that they have in virtual time.
func TestServersHaveTheRoundsPace(t *testing.T) {
	redistest.RequireServer(t)
	l, r := smallRound(t)
	pace := link.Pace{Least: time.Millisecond, Ranks: &link.Ranks{Of: link.Clients, Longest: time.Millisecond}}
	var got *link.Pace
	play := func(ctx context.Context, c config.Config, o run.Options) (*reports.Run, error) {
		got = o.Pace
		return pretended(func(config.Config) bool { return true })(ctx, c, o)
	}
	real, err := (Servers{Lock: l, Nodes: 1, Play: play, Out: t.TempDir(), Pace: &pace}).Show(t.Context(), r, search.Finding{ID: "S1"}, 1)
	if err != nil || real.Plays != 1 || got != &pace {
		t.Errorf("%+v, %v: played at pace %+v", real, err, got)
	}
}

// A round that was made small in virtual time may end before its sections do. On servers it
// goes on until one can have ended.
func TestRoundThatEndsBeforeItsSectionsIsPlayed(t *testing.T) {
	redistest.RequireServer(t)
	l, r := smallRound(t)
	r.Duration, r.Load.Hold = 500*time.Millisecond, workload.Fixed(2*time.Second)
	var lasted time.Duration
	play := pretended(func(c config.Config) bool { lasted = c.Duration; return true })
	if _, err := (Servers{Lock: l, Nodes: 1, Play: play, Out: t.TempDir()}).Show(t.Context(), r, search.Finding{ID: "S1"}, 1); err != nil || lasted < 2*time.Second {
		t.Errorf("played for %v: %v", lasted, err)
	}
}

// A fault that is locked to a request comes just after it, as in virtual time; any other moment,
// and any pause that a step has, stays.
func TestStepsComeJustAfterRequests(t *testing.T) {
	steps := []faults.Spec{
		{Fault: "request-lost", On: watch.AcquireSent}, {Fault: "cut", On: watch.LateRelease}, {Fault: "cut", On: watch.AcquireSent, Then: time.Second},
		{Fault: "kill", On: watch.InSection}, {Fault: "kill"},
	}
	var got []time.Duration
	for _, x := range justAfter(steps) {
		got = append(got, x.Then)
	}
	if want := []time.Duration{simulate.StepsApart, simulate.StepsApart, time.Second, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if steps[0].Then != 0 {
		t.Errorf("the round's own steps were changed: %v", steps)
	}
}
