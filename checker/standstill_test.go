package checker

import (
	"slices"
	"testing"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/workload/history"
)

const milli = time.Millisecond

// stillbornAt is a history with a grant of 100 milli, asked for at 0, that is noted at ok,
// and with stalls of the harness.
func stillbornAt(ok time.Duration, stalls ...ledger.Interval) history.History {
	e := history.Event{Process: 0, Op: history.Acquire, Kind: history.Invoke, Key: "k", Owner: "a"}
	granted := e
	granted.Kind, granted.Time, granted.ValidUntil, granted.Has = history.OK, ok, 100*milli, history.HasValidUntil
	events := []history.Event{e, granted}
	for _, s := range stalls {
		events = append(events, history.Event{
			Process: history.Nemesis, Op: history.Stall, Kind: history.OK, Time: time.Second,
			Began: s.From, Ended: s.To, Has: history.HasBegan | history.HasEnded,
		})
	}
	events = append(events, history.Event{Process: history.Nemesis, Op: history.Phase, Kind: history.OK, Time: time.Second, Value: history.PhaseEnd})
	for i := range events {
		events[i].Index = i
	}
	return history.History{
		Header: history.Header{Type: "history", Version: 1, Lock: "text", Nodes: 1, Quorum: 1, TTL: 100 * milli},
		Events: events,
	}
}

// TestStandstill judges a grant that was noted when its lease had ended. It
// proves nothing where the harness stood still, from its invocation on, for as long
// as it came late; a stall that is too short, or elsewhere, excuses nothing, and one
// that is told of twice counts once.
func TestStandstill(t *testing.T) {
	for _, c := range []struct {
		name   string
		stalls []ledger.Interval
		want   Verdict
	}{
		{"none", nil, Fail},
		{"from before the deadline", []ledger.Interval{{From: 90 * milli, To: 160 * milli}}, Pass},
		{"from the deadline on", []ledger.Interval{{From: 100 * milli, To: 151 * milli}}, Pass},
		{"from after the deadline", []ledger.Interval{{From: 101 * milli, To: 160 * milli}}, Fail},
		{"that was over", []ledger.Interval{{From: 10 * milli, To: 149 * milli}}, Pass},
		{"that came later", []ledger.Interval{{From: 151 * milli, To: 300 * milli}}, Fail},
		{"one seen twice", []ledger.Interval{{From: 110 * milli, To: 150 * milli}, {From: 111 * milli, To: 150 * milli}}, Fail},
		{"one of several", []ledger.Interval{{From: 149 * milli, To: 150 * milli}, {From: 60 * milli, To: 155 * milli}}, Pass},
	} {
		r := Check(t.Context(), stillbornAt(150*milli, c.stalls...), Options{SecondOpinion: true})
		told := slices.ContainsFunc(r.Suspicious, func(f Finding) bool { return f.ID == "S7" })
		if r.Verdict != c.want || told != (c.want == Pass) {
			t.Errorf("a stall %s: %s, suspicious %+v; want %s", c.name, r.Verdict, r.Suspicious, c.want)
		}
	}
}

// TestManyStalls keeps them in bounded memory: none is forgotten.
func TestManyStalls(t *testing.T) {
	var s ledger.Stalls
	for i := range 5 * ledger.MaxStalls {
		at := time.Duration(i) * milli
		s.Observe(&history.Event{Time: at + milli/2, Began: at, Ended: at + milli/2})
	}
	if len(s.All) > ledger.MaxStalls {
		t.Errorf("%d intervals", len(s.All))
	}
	for i := range 100 {
		if at := time.Duration(i*ledger.MaxStalls/25)*milli + milli/2; s.Within(at-milli/2, at) < milli/2 {
			t.Errorf("the stall at %v is forgotten", at)
		}
	}
}
