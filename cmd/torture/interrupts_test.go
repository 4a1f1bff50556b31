package main

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

	"locktorture/cmd/torture/internal/scenario"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

var (
	interrupts     = flag.Int("interrupts", 3, "runs that TestInterrupts ends at a random moment")
	interruptsSeed = flag.Uint64("interrupts-seed", 1, "seed of TestInterrupts")
)

// endLimit bounds how long an interrupted run may take to heal, judge and
// report on a machine that is busy with other things.
const endLimit = time.Minute

// A run that is interrupted, terminated or killed at any moment leaves no
// server, stopped or not, nothing for a sweep to fail on, and a history that
// can be read.
func TestInterrupts(t *testing.T) {
	if !haveRedis(t) {
		t.Skip("redis-server is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	torture := filepath.Join(t.TempDir(), "torture") // the name makes this binary the command
	if err := os.Symlink(self, torture); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(*interruptsSeed, 0))
	for i := range *interrupts {
		sig := signals[i%len(signals)]
		after := time.Duration(rng.Int64N(int64(3 * time.Second)))
		out := t.TempDir()
		took := interrupt(t, torture, out, sig, after)
		t.Logf("run %d: %v after %v, gone %v later, history %s", i+1, sig, after.Round(time.Millisecond), took.Round(time.Millisecond), readable(t, out))
		if left := running(out); len(left) > 0 {
			t.Errorf("run %d: %v after %v left %q", i+1, sig, after, left)
		}
		if _, err := scenario.Sweep(t.Context(), out, ""); err != nil {
			t.Error(err)
		}
	}
}

// signals are what ends a run early, in turn.
var signals = []os.Signal{os.Interrupt, terminate, os.Kill}

// interrupt starts a run, signals it, and returns how long it took to end.
func interrupt(t *testing.T, torture, out string, sig os.Signal, after time.Duration) time.Duration {
	ctx, cancel := context.WithTimeout(t.Context(), after+endLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, torture, "run", "standard", "--quiet", "--testbed", "process", "--faults", "random",
		"--ttl", "500ms", "--duration", "20s", "--clients", "4", "--rate", "40", "--out", out)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	err := cmd.Wait()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		t.Errorf("%v after %v: %v: %s", sig, after, err, &said)
	}
	if exit != nil && (exit.ExitCode() == 2 || exit.ExitCode() == 70) {
		t.Errorf("%v after %v: exit code %d: %s", sig, after, exit.ExitCode(), &said)
	}
	return time.Since(began)
}

// readable reads the histories below out to their ends, and says what they
// are: none, whole or cut short.
func readable(t *testing.T, out string) string {
	files, _ := filepath.Glob(filepath.Join(out, "*-*", historyfile.Name))
	state := "none"
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Size() == 0 {
			state = "empty"
			continue
		}
		source, closer, err := historyfile.Open(filepath.Dir(file), nil)
		if err != nil {
			t.Errorf("open %s: %v", file, err)
			continue
		}
		var e history.Event
		for err == nil {
			err = source.Next(&e)
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("read %s: %v", file, err)
		}
		if state = "whole"; source.Truncated() {
			state = "cut short"
		}
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	}
	return state
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
