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

// A stretch is one of the functions that run a phase.
type stretch func(context.Context, workload.Config, []*workload.Client, *history.Recorder) error

// runUntil runs a phase until enough says so of an event. Nothing else ends it,
// so that no verdict depends on the machine's speed.
func runUntil(t *testing.T, rec *history.Recorder, phase stretch, cfg workload.Config, clients []*workload.Client, enough func(e *history.Event) bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rec.Attach(history.SinkFunc(func(e *history.Event) {
		if enough(e) {
			cancel()
		}
	}))
	if err := phase(ctx, cfg, clients, rec); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() == nil {
		t.Errorf("not enough within %v", cfg.Duration)
	}
}

// times returns what becomes true at the n-th event that is as wanted.
func times(n int, wanted func(*history.Event) bool) func(*history.Event) bool {
	return func(e *history.Event) bool {
		if wanted(e) {
			n--
		}
		return n <= 0
	}
}

// all returns what becomes true when all of conditions have.
func all(conditions ...func(*history.Event) bool) func(*history.Event) bool {
	return func(e *history.Event) bool {
		done := true
		for _, c := range conditions {
			done = c(e) && done
		}
		return done
	}
}

// load is a closed loop with much contention, which a test ends.
func load() workload.Config {
	return workload.Config{
		Keys: 2, TTL: 20 * time.Second, Timeout: 20 * time.Second, Writes: 2,
		Hold:     workload.Dist{Shape: workload.Uniform, Max: 4 * time.Millisecond},
		Think:    workload.Dist{Shape: workload.Exponential, Mean: 2 * time.Millisecond},
		Duration: time.Minute, Final: time.Minute, Seed: 7,
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
	cfg.Extend = 0.3
	grant := of(history.Acquire, history.OK)
	everything := all(
		times(9, grant), times(3, of(history.Acquire, history.Fail)), times(3, of(history.Read, history.OK)),
		times(9, of(history.Write, history.OK)), times(3, of(history.Extend, history.OK)), times(3, of(history.Release, history.OK)),
	)
	events := record(t, func(rec *history.Recorder) {
		runUntil(t, rec, workload.Run, cfg, r.clients, everything)
		runUntil(t, rec, workload.RunFinal, cfg, r.clients, times(9, grant))
		auditor := r.open(&road{})
		defer auditor.Close()
		if err := workload.RecordAudit(t.Context(), auditor, rec); err != nil {
			t.Fatal(err)
		}
	})
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
	want := []string{"main", "main end", "final", "final end"}
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
	takers, covered := map[string]map[string]bool{}, 0
	record(t, func(rec *history.Recorder) {
		runUntil(t, rec, workload.RunFinal, cfg, r.clients, func(e *history.Event) bool {
			if e.Op == history.Acquire && e.Kind == history.OK {
				if takers[e.Key] == nil {
					takers[e.Key] = map[string]bool{}
				}
				takers[e.Key][e.Owner] = true
				if len(takers[e.Key]) == 2 {
					covered++
				}
			}
			return covered >= cfg.Keys
		})
	})
}

// Once no lease of before can last, each key is left to one client, and each client has some,
// where there are enough. The phase ends when each has been granted there.
func TestFinalPhaseEndsWithOneClientPerKey(t *testing.T) {
	for _, clients := range []int{2, 3, 7} {
		r := newRig(t, clients)
		cfg := load()
		cfg.Keys, cfg.TTL, cfg.Final, cfg.Think = 5, 100*time.Millisecond, time.Hour, workload.Dist{}
		last := map[string]string{} // who asked last: who had asked before may still be answered
		asked, granted := map[string]int{}, map[[2]string]bool{}
		record(t, func(rec *history.Recorder) {
			rec.Attach(history.SinkFunc(func(e *history.Event) {
				switch {
				case e.Op == history.Acquire && e.Kind == history.Invoke:
					asked[e.Owner]++
					last[e.Key] = e.Owner
				case e.Op == history.Acquire && e.Kind == history.OK:
					granted[[2]string{e.Key, e.Owner}] = true
				}
			}))
			if err := workload.RunFinal(t.Context(), cfg, r.clients, rec); err != nil {
				t.Fatal(err)
			}
		})
		owners := map[string]bool{}
		for key, owner := range last {
			if granted[[2]string{key, owner}] {
				owners[owner] = true
			}
		}
		if len(last) != cfg.Keys || len(owners) != min(clients, cfg.Keys) || len(asked) != clients {
			t.Errorf("%d clients: the keys were left to %v", clients, last)
		}
	}
}

// Who is refused at a key that is left to him turns to his other keys, and comes back. Once everybody
// was granted his other keys, only those are asked for that he is refused: no other one is held.
func TestAtTheEndOnlyKeysAreAskedForThatAreRefused(t *testing.T) {
	r := newRig(t, 2)
	cfg := load()
	cfg.Keys, cfg.TTL, cfg.Think = 4, 100*time.Millisecond, workload.Dist{}
	if err := r.locks.Set("lock:k0", "of somebody who never comes back"); err != nil {
		t.Fatal(err)
	}
	refused, inARow, granted := 0, 0, map[string]bool{}
	record(t, func(rec *history.Recorder) {
		runUntil(t, rec, workload.RunFinal, cfg, r.clients, func(e *history.Event) bool {
			switch {
			case e.Op != history.Acquire || e.Kind == history.Invoke:
			case e.Key == "k0" && e.Kind == history.Fail:
				refused++
				inARow++
			case e.Kind == history.OK:
				granted[e.Key], inARow = true, 0
			}
			return len(granted) == cfg.Keys-1 && refused > 20 && inARow > 10
		})
	})
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
	record(t, func(rec *history.Recorder) {
		if err := workload.Run(t.Context(), cfg, r.clients, rec); err == nil {
			t.Error("no error")
		}
	})
}
