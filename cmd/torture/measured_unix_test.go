//go:build unix

package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/reports"
	"locktorture/reports/capacity"
	"locktorture/reports/capacity/queueing"
)

// exitInconclusive is that of figures that are not valid.
const exitInconclusive = 3

// A measurement that Ctrl-C ends has written what it had measured, marked as incomplete, and
// ends with 3.
func TestInterruptedMeasurementsAreWritten(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	torture := filepath.Join(t.TempDir(), "torture") // the name makes this binary the command
	if err := os.Symlink(self, torture); err != nil {
		t.Fatal(err)
	}
	bench := []string{"bench", "--testbed", "embedded", "--nodes", "1", "--lock", "single,redislock", "--scenario", "uncontended", "--slice", "20ms", "--repeats", "50"}
	load := []string{"capacity", "--testbed", "embedded", "--lock", "single", "--repeats", "2", "--step", "50ms", "--keys", "4", "--hold", "1ms", "--clients", "2"}
	for _, c := range []struct {
		args         []string
		at           string // the line at which it is interrupted
		file, stdout string
	}{
		{load, "hot key", "capacity.json", "interrupted: this is not the whole measurement; missing: "},
		{bench, "repeat 2 of", "bench.json", "cells were not measured"},
	} {
		out := t.TempDir()
		cmd := exec.CommandContext(t.Context(), torture, append(c.args, "--seed", "5", "--out", out)...)
		var stdout strings.Builder
		cmd.Stdout = &stdout
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		told, signalled := "", false
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if told += lines.Text() + "\n"; !signalled && strings.Contains(lines.Text(), c.at) {
				signalled = true
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Error(err)
				}
			}
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInconclusive || !strings.Contains(stdout.String(), c.stdout) {
			t.Errorf("%s at %q: %v, want exit code %d and %q\n%s%s", c.args[0], c.at, err, exitInconclusive, c.stdout, &stdout, told)
		}
		files, err := filepath.Glob(filepath.Join(out, "*", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		var written struct {
			Incomplete any `json:"incomplete"`
		}
		if len(files) != 1 || filepath.Base(files[0]) != c.file {
			t.Fatalf("%s: want %s, and %q are there", c.args[0], c.file, files)
		}
		if raw, err := os.ReadFile(files[0]); err != nil || json.Unmarshal(raw, &written) != nil || written.Incomplete == nil {
			t.Errorf("%s is not marked as incomplete: %v", c.file, err)
		}
	}
}

// A plan that no number of servers meets ends as a missed objective does; one that is met
// ends well.
func TestPlansEndByWhetherTheyAreMet(t *testing.T) {
	t.Parallel()
	times := &capacity.Times{Mean: 0.001}
	for _, p := range queueing.Probabilities {
		times.Quantiles = append(times.Quantiles, 0.0005+0.001*p)
	}
	one := capacity.Load{N: 1, Masters: 1, Rate: 500, Harness: 1e-4, Redis: 2e-5, Acquire: times, Release: times}
	many := one
	many.N, many.Rate = 8, 3000
	r := capacity.Report{
		Schema: reports.Schema, Repeats: 1, Began: time.Unix(1, 0), RTT: 100 * time.Microsecond,
		Setup:       capacity.Setup{Lock: "single", Masters: 1, Clients: 2, Keys: 4, Hold: time.Millisecond, TTL: 2 * time.Second},
		Sweep:       []capacity.Load{one, many},
		Calibration: &capacity.Calibration{Quorum: 1, CPUs: 2, Size: 8, Same: []capacity.Load{many}},
	}
	dir := t.TempDir()
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	torture := filepath.Join(t.TempDir(), "torture")
	if err := os.Symlink(self, torture); err != nil {
		t.Fatal(err)
	}
	for plan, want := range map[string]int{"rate=10/s,acquire.p99<10s,keys=1000,nodes=1": 0, "rate=2000/s,keys=1,nodes=1": checker.SLOBreach.Exit()} {
		cmd := exec.CommandContext(t.Context(), torture, "capacity", "--plan", plan, "--from", dir)
		said, _ := cmd.CombinedOutput() // its exit code is looked at
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: exit code %d, want %d\n%s", plan, got, want, said)
		}
	}
}
