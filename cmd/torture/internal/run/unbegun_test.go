package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/cmd/torture/internal/run"
	"locktorture/lockimpl"
	"locktorture/lockimpl/child"
	"locktorture/reports"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

// A reluctant lock admits its nodes as boot says.
type reluctant struct{ boot func() error }

func (l reluctant) Acquire(context.Context, string, time.Duration) (lockimpl.Lease, error) {
	return nil, lockimpl.ErrHeld
}
func (l reluctant) Bootstrap(context.Context) error { return l.boot() }
func (l reluctant) Close() error                    { return nil }

// start plays the scenario calm with a lock that admits its nodes as boot says.
func start(ctx context.Context, t *testing.T, boot func() error, o run.Options) (r *reports.Run, out string, err error) {
	t.Helper()
	return startLock(ctx, t, catalogue.Lock{ID: "reluctant", Nodes: 1, Factory: func(config.Config) lockimpl.Factory {
		return func([]lockimpl.Node) (lockimpl.Locker, error) { return reluctant{boot}, nil }
	}}, o)
}

// startLock plays the scenario calm with lock.
func startLock(ctx context.Context, t *testing.T, lock catalogue.Lock, o run.Options) (r *reports.Run, out string, err error) {
	t.Helper()
	cfg, err := config.Base("calm")
	if err != nil {
		t.Fatal(err)
	}
	out = t.TempDir()
	cfg.Lock, cfg.Testbed, cfg.Seed, cfg.Out = lock.ID, "embedded", 1, out
	r, err = run.Run(ctx, cfg, lock, o)
	return r, out, err
}

// A said is what a child said of its pid, and calls then, when it has said it.
type said struct {
	pid  int
	then func()
}

// Write implements io.Writer.
func (s *said) Write(p []byte) (int, error) {
	_, _ = fmt.Sscanf(string(p), "pid %d", &s.pid)
	s.then()
	return len(p), nil
}

// mute is a lock whose child says its pid and never greets, though it may take limit.
func mute(t *testing.T, log *said, limit time.Duration) catalogue.Lock {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		redistest.Missing(t, err)
	}
	return catalogue.Lock{ID: "mute", Nodes: 1, Child: true, Start: func(config.Config) child.Starter {
		return child.Command{
			Path: "sh", Args: []string{"-c", "echo pid $$ >&2; trap '' TERM; sleep 1000"},
			Log: log, Start: limit, Grace: time.Hour, Leave: time.Hour,
		}.Starter()
	}}
}

// mustBeDead sees that the child that said its pid is gone.
func mustBeDead(t *testing.T, s said) {
	t.Helper()
	if s.pid == 0 {
		t.Error("no child has said its pid")
	} else if err := syscall.Kill(s.pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("child %d is left: %v", s.pid, err)
	}
}

// A lock in a child process that never greets is told when one start may take no longer,
// and leaves no child.
func TestAChildThatNeverGreetsEndsTheRun(t *testing.T) {
	t.Parallel()
	log := said{then: func() {}}
	r, _, err := startLock(t.Context(), t, mute(t, &log, 10*time.Second), run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict() != checker.HarnessError || !strings.Contains(r.Headline(), "build lock mute: start sh: init: the child does not answer within 10s of its start") {
		t.Errorf("%s: %s", r.Verdict(), r.Headline())
	}
	mustBeDead(t, log)
}

// Who calls a run off does not wait for a child to greet, and it is gone.
func TestAStartOfAChildIsCalledOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	log := said{then: cancel}
	r, out, err := startLock(ctx, t, mute(t, &log, time.Hour), run.Options{})
	if r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v: want the end of the context and no run", r, err)
	}
	if left, _ := os.ReadDir(out); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
	mustBeDead(t, log)
}

// A run that comes no further than its start has a verdict, with its cause first, and a
// record that says the same to whoever judges it later.
func TestAStartThatFailsIsRecorded(t *testing.T) {
	for what, c := range map[string]struct {
		boot    func() error
		verdict checker.Verdict
		want    string
	}{
		"the nodes are not admitted": {func() error { return errors.New("n1 has been empty for too short a time") }, checker.HarnessError, "the harness failed: n1 has been empty for too short a time"},
		"the lock panics":            {func() error { panic("no nodes at all") }, checker.Fail, "panic of the lock"},
	} {
		t.Run(what, func(t *testing.T) {
			r, out, err := start(t.Context(), t, c.boot, run.Options{})
			if err != nil || r == nil {
				t.Fatalf("%v, %v: want a run", r, err)
			}
			if r.Verdict() != c.verdict || !strings.Contains(r.Headline(), c.want) {
				t.Errorf("%s: %s, want %s: %s", r.Verdict(), r.Headline(), c.verdict, c.want)
			}
			loaded, err := reports.Load(filepath.Join(out, reports.Latest))
			if err != nil || loaded.Verdict() != c.verdict {
				t.Errorf("results.json says %v (%v), want %s", loaded.Verdict(), err, c.verdict)
			}
			source, closer, err := historyfile.Open(r.Dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			report, err := run.Judge(t.Context(), source, run.Judging())
			if err := errors.Join(err, closer.Close()); err != nil || report.Verdict != c.verdict || source.Truncated() {
				t.Errorf("the history says %s (%v), want %s", report.Verdict, err, c.verdict)
			}
		})
	}
}

// What the user calls off, and a round that is one among very many, leave nothing.
func TestAStartThatNobodyAsksForLeavesNothing(t *testing.T) {
	fails := func() error { return errors.New("n1 is slow") }
	cancelled, cancel := context.WithCancel(t.Context())
	for what, of := range map[string]func() (*reports.Run, string, error){
		"one of many": func() (*reports.Run, string, error) {
			return start(t.Context(), t, fails, run.Options{Keep: func(*reports.Run) bool { return true }, Begin: func(run.Beginning) []history.Sink { return nil }})
		},
		"called off": func() (*reports.Run, string, error) {
			return start(cancelled, t, func() error { cancel(); return cancelled.Err() }, run.Options{})
		},
	} {
		r, out, err := of()
		if r != nil || !errors.As(err, new(run.StartError)) {
			t.Errorf("%s: %v, %v: want an error and no run", what, r, err)
		}
		if left, _ := os.ReadDir(out); len(left) > 0 {
			t.Errorf("%s: %s is left", what, left[0].Name())
		}
	}
}
