package main_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/app"
	"locktorture/cmd/torture/internal/periodic"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/faults/testbed/server"
	"locktorture/lockimpl"
)

// crashers is the name under which this binary is the command with two locks in
// it that crash the process.
const crashers = "torture-crashers"

// A crashing lock refuses everything, and at its hundredth refusal does what
// ends the process.
type crashing struct {
	refused atomic.Int64
	end     func()
}

func (c *crashing) Acquire(context.Context, string, time.Duration) (lockimpl.Lease, error) {
	if c.refused.Add(1) == 100 {
		c.end()
	}
	return nil, lockimpl.ErrHeld
}

func (c *crashing) Close() error { return nil }

// newCrashing is a lock that panics in a goroutine which it has started itself.
func newCrashing([]lockimpl.Node) (lockimpl.Locker, error) {
	var renewals map[string]int
	return &crashing{end: func() { go func() { renewals["k"]++ }() }}, nil
}

// newCrashingHarness is a lock beside which the harness panics in a goroutine of
// its own.
func newCrashingHarness([]lockimpl.Node) (lockimpl.Locker, error) {
	return &crashing{end: func() { periodic.Start(time.Millisecond, nil) }}, nil
}

// A panic that nobody can recover ends the process with Go's exit code. Its run
// is finished all the same: judged, with all reports, its servers gone, and the
// last line tells the truth.
func TestCrashIsFinished(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	torture := filepath.Join(t.TempDir(), crashers) // the name makes this binary the command
	if err := os.Symlink(self, torture); err != nil {
		t.Fatal(err)
	}
	testbed := "embedded"
	if haveRedis(t) {
		testbed = "process"
	}
	for lock, c := range map[string]struct {
		verdict checker.Verdict
		said    string
	}{
		"crashing":         {checker.Fail, "assignment to entry in nil map"},
		"crashing-harness": {checker.HarnessError, "the harness crashed"},
	} {
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), endLimit)
			defer cancel()
			cmd := exec.CommandContext(ctx, torture, "run", "calm", "--lock", lock, "--testbed", testbed, "--duration", "30s", "--out", out)
			var printed, wrong bytes.Buffer
			cmd.Stdout, cmd.Stderr = &printed, &wrong
			_ = cmd.Run() // its exit code tells
			if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(wrong.String(), "goroutine ") {
				t.Errorf("exit %d: %s", code, &wrong)
			}
			if want := "VERDICT " + string(c.verdict) + " exit 2\n"; !strings.HasSuffix(printed.String(), want) || !strings.Contains(strings.Join(strings.Fields(printed.String()), " "), c.said) {
				t.Errorf("want %q and %q at the end:\n%s\n%s", c.said, want, &printed, &wrong)
			}
			for _, name := range []string{"results.json", "report.html", "junit.xml", "crash.txt"} {
				if _, err := os.Stat(filepath.Join(out, "latest", name)); err != nil {
					t.Error(err)
				}
			}
			if left := running(out); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			var again bytes.Buffer
			if code := app.Run([]string{"check", "--out", out}, &again, &again); code != c.verdict.Exit() {
				t.Errorf("check: exit %d: %s", code, &again)
			}
		})
	}
}

// The second process removes what a crashed run has left on servers that ask for a
// password, which no file tells it.
func TestCrashOnServersWithAPassword(t *testing.T) {
	t.Parallel()
	password := redistest.Password(t)
	port := redistest.FreePort(t)
	redistest.Serve(t, "tcp", "127.0.0.1:"+port, append([]string{"--port", port}, redistest.ACL(t, "kim", password)...)...)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	torture := filepath.Join(t.TempDir(), crashers) // the name makes this binary the command
	if err := os.Symlink(self, torture); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), endLimit)
	defer cancel()
	out := t.TempDir()
	cmd := exec.CommandContext(ctx, torture, "run", "calm", "--lock", "crashing", "--duration", "30s", "--out", out)
	cmd.Env = append(os.Environ(), "TORTURE_REDIS=redis://kim:"+password+"@127.0.0.1:"+port+"/3")
	said, _ := cmd.CombinedOutput() // its exit code tells
	if code := cmd.ProcessState.ExitCode(); code != 2 || bytes.Contains(said, []byte(password)) || bytes.Contains(said, []byte("clear away")) {
		t.Errorf("exit %d: %s", code, said)
	}
	at := server.Endpoint{Addr: "127.0.0.1:" + port, Username: "kim", Password: password, DB: 3}
	if left := redistest.KeysAt(t, at); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	meta, err := os.ReadFile(filepath.Join(out, "latest", "run.json"))
	if err != nil || bytes.Contains(meta, []byte(password)) {
		t.Errorf("%v: %s", err, meta)
	}
}

// So it does when the harness was killed: the next run finds no key of this one, and is not
// refused.
func TestKilledHarnessLeavesNoKey(t *testing.T) {
	t.Parallel()
	port := redistest.FreePort(t)
	redistest.Serve(t, "tcp", "127.0.0.1:"+port, "--port", port)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	torture := filepath.Join(t.TempDir(), "torture") // the name makes this binary the command
	if err := os.Symlink(self, torture); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), endLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, torture, "run", "calm", "--lock", "token-lua", "--clients", "2", "--duration", "10m", "--redis", "127.0.0.1:"+port, "--out", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at := server.Endpoint{Addr: "127.0.0.1:" + port}
	wait := func(what string, until func(keys []string) bool) {
		for {
			keys := redistest.KeysAt(t, at)
			if until(keys) {
				return
			}
			select {
			case <-ctx.Done():
				t.Fatalf("%s: %v", what, keys)
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	wait("nothing was written", func(keys []string) bool { return slices.Contains(keys, "locktorture:log") })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	wait("left", func(keys []string) bool { return len(keys) == 0 })
}
