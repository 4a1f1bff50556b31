package checker

import (
	"strings"
	"testing"
	"time"

	"locktorture/workload/history"
)

// doubleGrant is a history in which a and b hold k at once from 10 milli on, with
// note as a phase event at the end, which speaks of the time since.
func doubleGrant(note string, since time.Duration) history.History {
	grant := func(process int, owner string, at time.Duration) []history.Event {
		e := history.Event{Process: process, Op: history.Acquire, Kind: history.Invoke, Key: "k", Owner: owner, Time: at}
		ok := e
		ok.Kind, ok.Time, ok.ValidUntil, ok.Has = history.OK, at+milli, at+500*milli, history.HasValidUntil
		return []history.Event{e, ok}
	}
	events := append(grant(0, "a", 5*milli), grant(1, "b", 9*milli)...)
	events = append(events,
		history.Event{Process: history.Nemesis, Op: history.Phase, Kind: history.OK, Time: 80 * milli, Note: note, Began: since, Has: history.HasBegan},
		history.Event{Process: history.Nemesis, Op: history.Phase, Kind: history.OK, Time: 90 * milli, Value: history.PhaseEnd})
	for i := range events {
		events[i].Index = i
	}
	return history.History{
		Header: history.Header{Type: "history", Version: 1, Lock: "text", Nodes: 1, Quorum: 1, TTL: 500 * milli},
		Events: events,
	}
}

// TestMishap judges a double grant of a run that came to harm before it, or
// after it: what was proved before stands.
func TestMishap(t *testing.T) {
	const cause = "redis-server of n3 (pid 7; not ours) ended: signal: killed"
	for _, c := range []struct {
		since time.Duration
		want  Verdict
	}{
		{4 * time.Millisecond, HarnessError},
		{10 * time.Millisecond, HarnessError},
		{11 * time.Millisecond, Fail},
		{75 * time.Millisecond, Fail},
	} {
		r := Check(t.Context(), doubleGrant("harness: "+cause, c.since), Options{SecondOpinion: true, Counterfactual: true})
		if r.Verdict != c.want || r.Exit != c.want.Exit() {
			t.Errorf("harm since %v: %s %+v, want %s", c.since, r.Verdict, r.Violations, c.want)
		}
		if len(r.Harness) != 1 || r.Harness[0].ID != "H1" || r.Harness[0].Text != cause || r.Harness[0].Witness[0] != 4 {
			t.Errorf("harm since %v: %+v, want the cause", c.since, r.Harness)
		}
		if c.want == HarnessError && (len(r.Suspicious) != 1 || !strings.Contains(r.Suspicious[0].Text, "come to harm")) {
			t.Errorf("harm since %v: %+v, want the double grant among the suspicious", c.since, r.Suspicious)
		}
	}
}

// TestBreakdown judges a lock that broke down: that is its own doing.
func TestBreakdown(t *testing.T) {
	r := Check(t.Context(), doubleGrant("lock: client c01 panicked", 0), Options{})
	if r.Verdict != Fail || len(r.Violations) != 2 || r.Violations[1].ID != "P1" || len(r.Harness) != 0 {
		t.Errorf("%s %+v", r.Verdict, r.Violations)
	}
}
