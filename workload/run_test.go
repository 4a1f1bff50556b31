package workload_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"locktorture/workload"
	"locktorture/workload/history"
)

// record runs act with a recorder and returns the history, which obeys the
// rules of the format.
func record(t *testing.T, act func(rec *history.Recorder)) []history.Event {
	t.Helper()
	var buffer history.Buffer
	act(history.NewRecorder(&buffer))
	if err := history.Validate(buffer.Events); err != nil {
		t.Fatal(err)
	}
	return buffer.Events
}

// load is a short closed loop with much contention.
func load() workload.Config {
	return workload.Config{
		Keys: 2, TTL: 200 * time.Millisecond, Writes: 2,
		Hold:     workload.Dist{Shape: workload.Uniform, Max: 4 * time.Millisecond},
		Think:    workload.Dist{Shape: workload.Exponential, Mean: 2 * time.Millisecond},
		Duration: 400 * time.Millisecond, Final: 200 * time.Millisecond, Seed: 7,
	}
}

func count(events []history.Event, is func(e *history.Event) bool) (n int) {
	for i := range events {
		if is(&events[i]) {
			n++
		}
	}
	return n
}

func of(op history.Op, kind history.Kind) func(*history.Event) bool {
	return func(e *history.Event) bool { return e.Op == op && e.Kind == kind }
}

func TestRunLeavesAWholeStory(t *testing.T) {
	r := newRig(t, 4)
	cfg := load()
	cfg.Warmup, cfg.Extend = 50*time.Millisecond, 0.3
	events := record(t, func(rec *history.Recorder) {
		ctx := t.Context()
		for _, phase := range []func(context.Context, workload.Config, []*workload.Client, *history.Recorder) error{
			workload.Warmup, workload.Run, workload.RunFinal,
		} {
			if err := phase(ctx, cfg, r.clients, rec); err != nil {
				t.Fatal(err)
			}
		}
		auditor := r.open(&road{})
		defer auditor.Close()
		if err := workload.RecordAudit(ctx, auditor, rec); err != nil {
			t.Fatal(err)
		}
	})
	for _, want := range []struct {
		op   history.Op
		kind history.Kind
	}{{history.Acquire, history.OK}, {history.Acquire, history.Fail}, {history.Read, history.OK}, {history.Write, history.OK}, {history.Extend, history.OK}, {history.Release, history.OK}, {history.Audit, history.OK}} {
		if count(events, of(want.op, want.kind)) == 0 {
			t.Errorf("no %s %s", want.op, want.kind)
		}
	}
	checkPhases(t, events)
	checkLog(t, events)
	checkGrants(t, events)
}

func checkPhases(t *testing.T, events []history.Event) {
	t.Helper()
	var got []string
	for _, e := range events {
		if e.Op == history.Phase {
			name := e.Value
			if e.HasAll(history.HasLag) {
				name += " end"
			}
			got = append(got, name)
		}
	}
	want := []string{"warmup", "warmup end", "main", "main end", "final", "final end"}
	if len(got) != len(want) {
		t.Fatalf("phases %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("phases %v, want %v", got, want)
		}
	}
}

// checkLog compares what clients were told with what the store logged.
func checkLog(t *testing.T, events []history.Event) {
	t.Helper()
	logged := map[string]history.Event{}
	for _, e := range events {
		if e.Op == history.Audit {
			logged[e.Value] = e
		}
	}
	writes := 0
	for _, e := range events {
		if e.Op == history.Write && e.HasAll(history.HasSeq) {
			writes++
			if l := logged[e.Value]; l.Seq != e.Seq || l.Key != e.Key || l.Owner != e.Owner || l.Fence != e.Fence || l.Kind != e.Kind {
				t.Errorf("write %+v was logged as %+v", e, l)
			}
		}
	}
	if writes != len(logged) {
		t.Errorf("%d writes answered, %d logged", writes, len(logged))
	}
}

// checkGrants demands a token and a deadline of every grant, and that reads
// and writes by turns build on what was there.
func checkGrants(t *testing.T, events []history.Event) {
	t.Helper()
	version := map[string]uint64{}
	for _, e := range events {
		switch {
		case e.Op == history.Acquire && e.Kind == history.OK:
			if e.Fence == 0 || !e.HasAll(history.HasValidUntil) || e.ValidUntil <= e.Time {
				t.Errorf("grant without token or validity: %+v", e)
			}
		case e.Op == history.Write && e.Kind == history.OK:
			if e.HasAll(history.HasBase) && e.Base != version[e.Key] {
				t.Errorf("write based on %d, the row was at %d: %+v", e.Base, version[e.Key], e)
			}
			version[e.Key] = e.Seq
		}
	}
}

// In the final phase every key is taken by more than one client.
func TestFinalPhaseCoversEveryKey(t *testing.T) {
	r := newRig(t, 3)
	cfg := load()
	cfg.Keys, cfg.Think = 5, workload.Dist{}
	events := record(t, func(rec *history.Recorder) {
		if err := workload.RunFinal(t.Context(), cfg, r.clients, rec); err != nil {
			t.Fatal(err)
		}
	})
	takers := map[string]map[string]bool{}
	for _, e := range events {
		if e.Op == history.Acquire && e.Kind == history.OK {
			if takers[e.Key] == nil {
				takers[e.Key] = map[string]bool{}
			}
			takers[e.Key][e.Owner] = true
		}
	}
	if len(takers) != cfg.Keys {
		t.Fatalf("keys taken: %v", takers)
	}
	for key, owners := range takers {
		if len(owners) < 2 {
			t.Errorf("%s was taken by %v only", key, owners)
		}
	}
}

func TestLacksSaysWhichAbility(t *testing.T) {
	for _, test := range []struct {
		mode    workload.Mode
		ability string
	}{
		{workload.ModeRW, "shared leases"}, {workload.ModeFair, "fair waiting"},
		{workload.ModeReentrant, "re-entry"}, {workload.ModeMulti, "taking several keys at once"},
	} {
		r := newRig(t, 2)
		cfg := load()
		cfg.Mode = test.mode
		var err error
		events := record(t, func(rec *history.Recorder) { err = workload.Run(t.Context(), cfg, r.clients, rec) })
		var lack *workload.LacksError
		if !errors.As(err, &lack) || lack.Ability != test.ability {
			t.Errorf("mode %s: %v", test.mode, err)
		}
		if len(events) != 0 {
			t.Errorf("mode %s: it ran: %v", test.mode, events)
		}
	}
}

func TestPanicOfALockIsAnError(t *testing.T) {
	r := newRig(t, 2)
	connect := r.clients[1].Connect
	r.clients[1].Connect = func(ctx context.Context) (*workload.Conn, error) {
		conn, err := connect(ctx)
		conn.Locker = panicky{conn.Locker}
		return conn, err
	}
	cfg := load()
	cfg.Duration = time.Minute
	record(t, func(rec *history.Recorder) {
		if err := workload.Run(t.Context(), cfg, r.clients, rec); err == nil {
			t.Error("no error")
		}
	})
}
