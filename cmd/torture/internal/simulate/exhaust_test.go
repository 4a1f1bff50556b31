package simulate

import (
	"context"
	"slices"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/search"
	"locktorture/workload/history"
)

// exclusive tries all schedules of the first program with at most n deviations.
func exclusive(t *testing.T, id string, nodes int, b Bounds, n int) Tried {
	t.Helper()
	p := player(t, id)
	p.Nodes = nodes
	r := p.Try(t.Context(), p.Programs()[0], b, n, time.Time{})
	if r.Void > 0 {
		t.Errorf("%d schedules say nothing: %s", r.Void, r.Why)
	}
	return r
}

// Every order of messages with one deviation is tried, once, and the full lock stands
// them all.
func TestTheFullLockStandsEveryOrder(t *testing.T) {
	bounds := Bounds{Deviations: 1, Faults: 1, Moves: 14, Empty: true}
	if healthy := exclusive(t, "redlock", 3, bounds, 0); healthy.Schedules != 1 || !healthy.Complete {
		t.Fatalf("%+v: want the one schedule of a healthy network", healthy)
	}
	got := exclusive(t, "redlock", 3, bounds, 1)
	if !got.Complete || len(got.Found) > 0 || got.Points != bounds.Moves || got.Grants == 0 {
		t.Fatalf("%+v: want all of them, none broken", got)
	}
	// At each of 14 points four deviations, but for those after which a state was known.
	if got.Schedules < 4*bounds.Moves || got.Met == 0 || got.States == 0 {
		t.Errorf("%d schedules, %d of which met a known state: want more than one for each point and deviation", got.Schedules, got.Met)
	}
	again := exclusive(t, "redlock", 3, bounds, 1)
	if again.Schedules != got.Schedules || again.States != got.States || again.Met != got.Met {
		t.Errorf("%d schedules, %d states, %d met; a second time %d, %d, %d", got.Schedules, got.States, got.Met, again.Schedules, again.States, again.Met)
	}
}

// A lock that lets a master in which has lost its data is broken by one deviation; the
// schedule is replayed exactly, and does not break the lock without the bug.
func TestOneDeviationBreaksAForgetfulLock(t *testing.T) {
	last := exclusive(t, "amnesia-serves", 1, Bounds{Deviations: 1, Faults: 1, Moves: 20, Empty: true}, 1)
	if last.Complete || len(last.Found) == 0 {
		t.Fatalf("%+v: want a finding", last)
	}
	found := last.Found[0]
	if !slices.ContainsFunc(found.Moves, func(m string) bool { return m == string(restartEmpty)+" n1" }) {
		t.Errorf("the moves do not tell of the restart: %q", found.Moves)
	}
	for range 3 {
		res := player(t, "amnesia-serves").PlayAgain(t.Context(), found.Replay)
		if res.Err != nil || res.Hash != found.Replay.Hash {
			t.Fatalf("history %s, want %s: %v", res.Hash, found.Replay.Hash, res.Err)
		}
	}
	res := player(t, "amnesia-serves-twin").PlayAgain(t.Context(), found.Replay)
	// While a master sits out its quarantine nobody is granted anything: that is no finding here.
	broken := slices.ContainsFunc(res.Outcome.Findings, func(f search.Finding) bool { return isSafety(f.ID) })
	if res.Err != nil || broken || res.Grants == 0 {
		t.Errorf("without the bug: %+v, %d grants, %v", res.Outcome.Findings, res.Grants, res.Err)
	}
}

// Whoever ends an exhaustion makes no schedule void, not even the one that is played then.
func TestAnEndedExhaustionHasNoVoidSchedule(t *testing.T) {
	const played = 3
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, rounds := player(t, "redlock"), 0
	p.Watch = func() []history.Sink {
		if rounds++; rounds == played {
			cancel()
		}
		return nil
	}
	got := p.Try(ctx, p.Programs()[0], Bounds{Deviations: 1, Moves: 14}, 1, time.Time{})
	if got.Void > 0 || got.Complete || got.Schedules != played {
		t.Errorf("%+v: want %d schedules, none void, and more left", got, played)
	}
}

func TestCanonical(t *testing.T) {
	const (
		a = "lock 0123456789abcdef0123 at 1795459946868849, token 1795459946868850, again 0123456789abcdef0123, port 6379"
		b = "lock fedcba98765432100123 at 1700000000000001, token 1700000000000100, again fedcba98765432100123, port 6379"
		c = "lock fedcba98765432100123 at 1700000000000100, token 1700000000000001, again fedcba98765432100123, port 6379"
		d = "lock fedcba98765432100123 at 1700000000000001, token 1700000000000100, again 0123456789abcdef0123, port 6379"
	)
	if canonical(a) != canonical(b) {
		t.Errorf("%q and %q differ in what was drawn alone", canonical(a), canonical(b))
	}
	for _, other := range []string{c, d} {
		if canonical(a) == canonical(other) {
			t.Errorf("%q and %q are not the same", a, other)
		}
	}
}

// A schedule that holds a release back becomes, for real servers, a fault that is locked to
// the release's command and lasts as long.
func TestAScheduleIsAScriptForRealServers(t *testing.T) {
	last := exclusive(t, "set-nx-ex-del", 1, Bounds{Deviations: 1, Moves: 40}, 1)
	i := slices.IndexFunc(last.Found, func(b Broken) bool { return b.ID == "S1" })
	if i < 0 {
		t.Fatalf("%+v: want S1", last)
	}
	p := player(t, "set-nx-ex-del")
	res := p.PlayAgain(t.Context(), last.Found[i].Replay)
	if res.Err != nil || len(res.Steps) != 1 {
		t.Fatalf("%+v, %v: want one step", res.Steps, res.Err)
	}
	x := res.Steps[0]
	if x.Fault != "stuck-connection" || x.On != "command:DEL@n1" || x.For < smallLease-smallHold {
		t.Errorf("%+v: want the release held back until its lease has ended", x)
	}
	r := last.Found[i].Replay.Round
	r.Steps = res.Steps
	if err := p.Fits(r); err != nil {
		t.Error(err)
	}
}
