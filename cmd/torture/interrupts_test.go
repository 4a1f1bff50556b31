package main_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/app"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/cmd/torture/internal/run"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

var (
	interrupts     = flag.Int("interrupts", 3, "runs that TestInterrupts ends at a random moment")
	interruptsSeed = flag.Uint64("interrupts-seed", 1, "seed of TestInterrupts")
)

// endLimit bounds how long a run of a few seconds may take to start, heal,
// judge and report on a machine that is busy with other things.
const endLimit = 4 * time.Minute

// A run that is interrupted, terminated or killed at any moment of its life
// leaves no server, stopped or not, nothing for a sweep to fail on, and a
// history that can be judged.
func TestInterrupts(t *testing.T) {
	t.Parallel()
	redistest.RequireServer(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	torture := filepath.Join(t.TempDir(), "torture") // the name makes this binary the command
	if err := os.Symlink(self, torture); err != nil {
		t.Fatal(err)
	}
	life := interrupt(t, torture, t.TempDir(), nil, time.Hour)
	rng := rand.New(rand.NewPCG(*interruptsSeed, 0))
	states := map[string]int{}
	for i := range *interrupts {
		sig := signals[i%len(signals)]
		after := time.Duration(rng.Int64N(int64(life)))
		out := t.TempDir()
		lived := interrupt(t, torture, out, sig, after)
		state := judged(t, out)
		states[state]++
		t.Logf("run %d: %v after %v of %v, gone %v later, history %s",
			i+1, sig, after.Round(time.Millisecond), life.Round(time.Millisecond), (lived - after).Round(time.Millisecond), state)
		if left := running(out); len(left) > 0 {
			t.Errorf("run %d: %v after %v left %q", i+1, sig, after, left)
		}
		if _, err := run.Sweep(t.Context(), out, ""); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d runs of %v: histories %v", *interrupts, life.Round(time.Millisecond), states)
}

// signals are what ends a run early, in turn.
var signals = []os.Signal{os.Interrupt, terminate, os.Kill}

// interrupt starts a run, signals it some time after its directory was there,
// unless it has ended by then, and returns how long it lived from there on.
func interrupt(t *testing.T, torture, out string, sig os.Signal, after time.Duration) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), endLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, torture, "run", withoutObjectives(t), "--quiet", "--testbed", "process", "--faults", "random",
		"--ttl", "500ms", "--duration", "2s", "--clients", "4", "--out", out)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	began := awaitRun(ctx, out)
	var err error
	select {
	case err = <-ended:
	case <-time.After(after):
		if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		err = <-ended
	}
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		t.Errorf("%v after %v: %v: %s", sig, after, err, &said)
	}
	if exit != nil && (exit.ExitCode() == 2 || exit.ExitCode() == exitHarness) {
		t.Errorf("%v after %v: exit code %d: %s", sig, after, exit.ExitCode(), &said)
	}
	return time.Since(began)
}

// withoutObjectives writes the standard scenario at a higher rate, of which nothing is demanded: how
// much of it a busy machine serves decides no test.
func withoutObjectives(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "standard.yaml")
	if err := os.WriteFile(file, []byte("scenario: standard\nload: {rate: 40}\nslo: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// awaitRun waits for the directory of the run below out, and returns when it
// was there.
func awaitRun(ctx context.Context, out string) time.Time {
	for ctx.Err() == nil {
		if dirs, _ := filepath.Glob(filepath.Join(out, "*-*")); len(dirs) > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return time.Now()
}

// judged has every history below out judged, and says what they are: none,
// whole or cut short, and in which phase.
func judged(t *testing.T, out string) string {
	files, _ := filepath.Glob(filepath.Join(out, "*-*", historyfile.Name))
	state := "none"
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Size() == 0 {
			state = "empty"
			continue
		}
		var said, wrong bytes.Buffer
		if code := app.Run([]string{"check", filepath.Dir(file)}, &said, &wrong); code != checker.Pass.Exit() && code != checker.Inconclusive.Exit() {
			t.Errorf("check %s: exit %d: %s%s", file, code, &said, &wrong)
		}
		state = phase(t, file)
	}
	return state
}

// phase reads a history to its end, and says in which phase that is and whether
// it was cut short there.
func phase(t *testing.T, file string) string {
	source, closer, err := historyfile.Open(filepath.Dir(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = closer.Close() }()
	last, ended := "before "+history.PhaseMain, "cut short in "
	var e history.Event
	for err = source.Next(&e); err == nil; err = source.Next(&e) {
		switch {
		case e.Op != history.Phase || e.Value == "":
		case e.Value == history.PhaseEnd:
			ended = "whole, ended in "
		default:
			last = e.Value
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("read %s: %v", file, err)
	}
	return ended + last
}

// running lists the processes whose command line names dir, as far as /proc
// tells; the dying have a second.
func running(dir string) (left []string) {
	for range 100 {
		left = nil
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range lines {
			if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte(dir)) {
				left = append(left, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
			}
		}
		if len(left) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return left
}
