package main_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"locktorture/checker"
)

// A run on a disk that fills up is a harness error with that as its cause, and
// names no file that is not there. The disk is a small one in a mount namespace
// of its own.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if !haveRedis(t) {
		t.Skip("redis-server is not installed")
	}
	torture := named(t, "torture")
	small := t.TempDir()
	for _, c := range []struct{ size, cause string }{{"60k", ""}, {"160k", "write history"}} {
		mount := fmt.Sprintf("mount -t tmpfs -o size=%s tmpfs %s", c.size, small)
		mayMount(t, mount)
		cmd := namespaced(t, mount+fmt.Sprintf(" && exec %s run calm --testbed process --lock single --faults none --duration 30s --clients 8 --out %s", torture, small))
		text := outcome(cmd)
		if code := cmd.ProcessState.ExitCode(); code != checker.HarnessError.Exit() || !strings.Contains(text, "no space left on device") {
			t.Errorf("%s: exit %d\n%s", c.size, code, text)
		}
		if _, verdict, _ := strings.Cut(text, "VERDICT HARNESS ERROR"); !strings.HasPrefix(verdict, "  the harness failed: "+c.cause) {
			t.Errorf("%s: want the cause first: %q\n%s", c.size, c.cause, text)
		}
		if strings.Contains(text, small+"/") && strings.Contains(text, "/report.html\n") || !strings.Contains(text, "report.html could not be written") {
			t.Errorf("%s: it names a report that was not written\n%s", c.size, text)
		}
	}
}

// A run whose folder turns read-only, as a file system does that meets an error of its
// disk, may not grow any further, or is taken away while it goes on, is a harness error
// with that as its cause, and never the lock's.
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	torture, out := named(t, "torture"), t.TempDir()
	run := fmt.Sprintf("%s run calm --testbed embedded --lock single --faults none --duration 3s --clients 8 --out %s", torture, out)
	begun := fmt.Sprintf("until ls %s/*-*/history* >/dev/null 2>&1; do sleep 0.02; done", out)
	mount := fmt.Sprintf("mount -t tmpfs tmpfs %s", out)
	readOnly := fmt.Sprintf("mount --bind %s %s && mount -o remount,bind,ro %s", out, out, out)
	mayMount(t, mount+" && "+readOnly)
	for _, c := range []struct{ name, script, cause string }{
		{"read-only", fmt.Sprintf("%s; %s & %s; %s; wait $!", mount, run, begun, readOnly), "read-only file system"},
		{"too large", fmt.Sprintf("%s; ulimit -f 8; exec %s", mount, run), "file too large"},
		{"taken away", fmt.Sprintf("%s; %s & %s; rm -rf %s/*-*; wait $!", mount, run, begun, out), "no such file or directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := namespaced(t, c.script)
			text := outcome(cmd)
			if code := cmd.ProcessState.ExitCode(); code != checker.HarnessError.Exit() {
				t.Errorf("exit %d\n%s", code, text)
			}
			_, verdict, _ := strings.Cut(text, "VERDICT HARNESS ERROR")
			if first, _, _ := strings.Cut(verdict, "\n"); !strings.HasPrefix(first, "  the harness failed: ") || !strings.Contains(first, c.cause) {
				t.Errorf("want the cause first: %q\n%s", c.cause, text)
			}
		})
	}
}

// A folder that cannot be written to begin with was given wrongly.
func TestReadOnlyOut(t *testing.T) {
	torture, out := named(t, "torture"), t.TempDir()
	readOnly := fmt.Sprintf("mount -t tmpfs -o ro tmpfs %s", out)
	mayMount(t, readOnly)
	for _, verb := range []string{"run calm --testbed embedded --duration 1s", "bench --testbed embedded", "capacity --testbed embedded"} {
		cmd := namespaced(t, fmt.Sprintf("%s && exec %s %s --out %s", readOnly, torture, verb, out))
		if text := outcome(cmd); cmd.ProcessState.ExitCode() != 64 || !strings.Contains(text, "--out is") || !strings.Contains(text, "read-only file system") {
			t.Errorf("%s: exit %d\n%s", verb, cmd.ProcessState.ExitCode(), text)
		}
	}
}

// namespaced is a script in a mount namespace of its own, as its root.
func namespaced(t *testing.T, script string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), endLimit)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, "unshare", "--map-root-user", "--mount", "/bin/sh", "-c", script)
}

// mayMount skips the test, or fails it where nothing may skip, when what it mounts cannot be.
func mayMount(t *testing.T, script string) {
	t.Helper()
	said, err := namespaced(t, script).CombinedOutput()
	switch {
	case err == nil:
	case os.Getenv(requireAll) != "":
		t.Fatalf("nothing can be mounted: %v: %s", err, said)
	default:
		t.Skipf("nothing can be mounted: %v: %s", err, said)
	}
}

// outcome runs cmd, and returns all that it said; its exit code is in its state.
func outcome(cmd *exec.Cmd) string {
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	_ = cmd.Run()
	return said.String()
}
