package hunt

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/search"
	"locktorture/faults"
	"locktorture/reports"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

// generous bounds what waits for real servers on a busy machine.
const generous = 8 * time.Minute

// prepared is a hunt of a lock in dir.
func prepared(t *testing.T, lock string, earlier *Report, dir string, play Player) *Hunt {
	t.Helper()
	base, err := Base()
	if err != nil {
		t.Fatal(err)
	}
	base.Lock, base.Testbed = lock, "process"
	l, err := catalogue.Builtin().Find(lock)
	if err != nil {
		t.Fatal(err)
	}
	if play == nil {
		play = func(ctx context.Context, c config.Config, o run.Options) (*reports.Run, error) {
			return run.Run(ctx, c, l, o)
		}
	}
	h, err := New(t.Context(), Config{
		Lock: l, Base: base, Budget: generous, Seed: 1, Jobs: 2, Dir: dir, Play: play, Log: func(line string) { t.Log(line) },
	}, earlier)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// endAfter ends a hunt when so many plays are over that were not called off.
func endAfter(t *testing.T, h *Hunt, plays int64) *Report {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	play, over := h.exec.play, new(atomic.Int64)
	h.exec.play = func(ctx context.Context, c config.Config, o run.Options) (*reports.Run, error) {
		r, err := play(ctx, c, o)
		if ctx.Err() == nil && over.Add(1) >= plays {
			defer cancel()
		}
		return r, err
	}
	return h.Run(ctx)
}

// endWhen ends a hunt as soon as what it knows is enough.
func endWhen(t *testing.T, h *Hunt, enough func(*Report) bool) *Report {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	say := h.cfg.Log
	h.cfg.Log = func(line string) {
		say(line)
		if enough(h.Report()) {
			cancel()
		}
	}
	return h.Run(ctx)
}

func small(r *Report, id string) *search.Found {
	i := slices.IndexFunc(r.Found, func(f *search.Found) bool { return f.ID == id && f.Small != nil })
	if i < 0 {
		return nil
	}
	return r.Found[i]
}

// TestHunt finds what is wrong with the simplest recipe on real servers, writes it
// down, and goes on from there.
func TestHunt(t *testing.T) {
	redistest.RequireServer(t)
	dir := t.TempDir()
	h := prepared(t, "exists-set", nil, dir, nil)
	r := endWhen(t, h, func(r *Report) bool { return len(r.Found) > 0 })
	if r.Verdict != checker.Fail || len(r.Found) == 0 {
		t.Fatalf("%s: %s", r.Verdict, r.Why)
	}
	if err := h.Write(r); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, PageFile))
	if err != nil || !strings.Contains(string(page), "What was found") || !strings.Contains(string(page), "<svg") {
		t.Errorf("the page: %v, %d bytes", err, len(page))
	}
	if _, err := reports.Load(r.Found[0].Run); err != nil {
		t.Errorf("no record of the round that showed it: %v", err)
	}

	earlier, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	after := endAfter(t, prepared(t, "exists-set", earlier, dir, nil), 1)
	if after.Verdict != checker.Fail || len(after.Found) < len(r.Found) || len(after.Rounds) < len(r.Rounds) || after.Took < earlier.Took {
		t.Errorf("gone on with: %s, %d rounds after %d, %v after %v", after.Verdict, len(after.Rounds), len(r.Rounds), after.Took, earlier.Took)
	}
}

// TestHuntOfASoundLock ends, when it is interrupted, without an accusation.
func TestHuntOfASoundLock(t *testing.T) {
	redistest.RequireServer(t)
	h := prepared(t, "single", nil, t.TempDir(), nil)
	r := endAfter(t, h, 2)
	if r.Verdict != checker.Inconclusive || !r.Interrupted || len(r.Found) > 0 {
		t.Errorf("%s: %s, %+v", r.Verdict, r.Why, r.Found)
	}
	left, err := filepath.Glob(filepath.Join(h.base.Out, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("records of rounds that showed nothing: %v, %v", left, err)
	}
}

// pretended plays runs in no time: each has a history with a double grant in it if
// shows says so.
func pretended(shows func(c config.Config) bool) Player {
	return func(ctx context.Context, c config.Config, o run.Options) (*reports.Run, error) {
		if ctx.Err() != nil {
			return &reports.Run{Interrupted: true}, nil
		}
		dir, err := os.MkdirTemp(c.Out, "run-")
		if err != nil {
			return nil, err
		}
		h := history.Header{TTL: c.TTL, Nodes: 1, Quorum: 1}
		file, err := historyfile.Create(filepath.Join(dir, historyfile.Name), h)
		if err != nil {
			return nil, err
		}
		judge := checker.New(h, checker.Options{})
		rec := history.NewRecorder(append(o.Begin(run.Beginning{Header: h, Dir: dir, Judge: judge}), file, judge)...)
		for i, owner := range []string{"c00", "c01"} {
			if i == 0 || shows(c) {
				rec.Append(history.Event{Process: i, Kind: history.Invoke, Op: history.Acquire, Key: "k0", Owner: owner})
				rec.Append(history.Event{Process: i, Kind: history.OK, Op: history.Acquire, Key: "k0", Owner: owner, ValidUntil: time.Hour, Has: history.HasValidUntil})
			}
		}
		rec.Append(history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: history.PhaseEnd})
		if err := errors.Join(rec.Err(), file.Close()); err != nil {
			return nil, err
		}
		r := &reports.Run{Dir: dir, Report: judge.Finish(ctx, false)}
		if !o.Keep(r) {
			return r, os.RemoveAll(dir)
		}
		return r, nil
	}
}

// TestHuntMakesSmall: what is found is made small, recorded, and written as a scenario
// that a run takes.
func TestHuntMakesSmall(t *testing.T) {
	dir := t.TempDir()
	h := prepared(t, "single", nil, dir, pretended(func(c config.Config) bool {
		return c.Clients >= 2 && slices.ContainsFunc(c.Faults.Steps, func(x faults.Spec) bool { return x.Fault == "pause-client" })
	}))
	r := endWhen(t, h, func(r *Report) bool { return small(r, "S1") != nil })
	f := small(r, "S1")
	if f == nil || r.Verdict != checker.Fail {
		t.Fatalf("%s: %s", r.Verdict, r.Why)
	}
	if a := f.Small.After; a.Steps != 1 || a.Clients != 2 || a.Keys != 1 || f.Small.Again != f.Small.Of || f.Small.Of == 0 {
		t.Errorf("%+v", f.Small)
	}
	if _, err := os.Stat(f.Small.Run); f.Small.Run == "" || err != nil {
		t.Errorf("no record of the small round: %q, %v", f.Small.Run, err)
	}
	if err := h.Write(r); err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Glob(filepath.Join(dir, "F*.yaml"))
	if err != nil || len(file) == 0 {
		t.Fatalf("no scenario file: %v", err)
	}
	c, err := config.Base("standard")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.ReadFile(file[0]); err != nil || c.Clients != 2 {
		t.Fatalf("%d clients, %v", c.Clients, err)
	}
}

// A hunt ends with its budget, what is under way apart, and of the time that is left when
// something is found keeps enough to say how often the smaller round shows it again. What
// there was no time for is said, and done by the next session.
func TestShrinkingIsPartOfTheBudget(t *testing.T) {
	const round = 2 * time.Second
	broken := pretended(func(c config.Config) bool { return true })
	slow := func(ctx context.Context, c config.Config, o run.Options) (*reports.Run, error) {
		select {
		case <-time.After(round):
		case <-ctx.Done():
		}
		return broken(ctx, c, o)
	}
	for _, c := range []struct {
		budget time.Duration
		small  bool
	}{{time.Minute, true}, {round, false}} {
		dir := t.TempDir()
		h := prepared(t, "single", nil, dir, slow)
		h.cfg.Budget = c.budget
		synctest.Test(t, func(t *testing.T) {
			r := h.Run(t.Context())
			if r.Took > c.budget+round || len(r.Found) == 0 {
				t.Fatalf("a hunt of %v took %v; found %d", c.budget, r.Took, len(r.Found))
			}
			f := r.Found[0]
			if words := r.shrunk(f); (f.Small != nil) != c.small || c.small && f.Small.Of == 0 || !c.small && !strings.Contains(words, "--resume") {
				t.Errorf("in %v: %+v, %q", c.budget, f.Small, words)
			}
			if err := r.Save(dir); err != nil {
				t.Error(err)
			}
		})
		if c.small {
			continue
		}
		earlier, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		next := prepared(t, "single", earlier, dir, slow)
		if saved, err := Load(dir); err != nil || saved.Took < earlier.Took || saved.Took > earlier.Took+time.Hour {
			t.Errorf("a hunt that was gone on with and killed at once took %v, after %v: %v", saved.Took, earlier.Took, err)
		}
		next.cfg.Budget = 2 * time.Minute
		synctest.Test(t, func(t *testing.T) {
			if r := next.Run(t.Context()); r.Found[0].Small == nil {
				t.Errorf("the next session leaves it: %q", r.shrunk(r.Found[0]))
			}
		})
	}
}

// What a round proves counts although children of the lock hung in it until they were killed; without
// a proof it says nothing, and so does a round of which something else went wrong.
func TestRoundsThatHang(t *testing.T) {
	proved := checker.Report{Violations: []checker.Finding{{ID: "L2"}}}
	for name, c := range map[string]struct {
		run  reports.Run
		void string
	}{
		"hung, and proves something": {reports.Run{Harness: []string{"hung"}, Hung: true, Report: proved}, ""},
		"hung":                       {reports.Run{Harness: []string{"hung"}, Hung: true}, "hung"},
		"something else":             {reports.Run{Harness: []string{"disk full"}, Report: proved}, "disk full"},
		"hung, and as the history says": {reports.Run{Harness: []string{"hung"}, Hung: true, Report: checker.Report{
			Violations: proved.Violations, Harness: []checker.Finding{{Text: "hung"}},
		}}, ""},
		"hung, and something else": {reports.Run{Harness: []string{"hung"}, Hung: true, Report: checker.Report{
			Violations: proved.Violations, Harness: []checker.Finding{{Text: "a toxic stayed"}},
		}}, "hung"},
		"all is well": {reports.Run{Report: proved}, ""},
	} {
		if got := void(t.Context(), &c.run, nil); got != c.void {
			t.Errorf("%s: %q, want %q", name, got, c.void)
		}
	}
}
