package main_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/workload/history"
)

// A run on a disk that fills up is a harness error with that as its cause, and
// names no file that is not there. The disk is a small one in a mount namespace
// of its own.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	redistest.RequireServer(t)
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

// The disk of a server of NATS fills up in mid-run. The run is a harness error that says
// where what could not be sent is, and judges nothing of it; check does, of the workers' own
// files, in which it is.
func TestFullDiskOfStreams(t *testing.T) {
	t.Parallel()
	small, full := t.TempDir(), filepath.Join(t.TempDir(), "full")
	mount := fmt.Sprintf("mount -t tmpfs -o size=32m tmpfs %s", small)
	mayMount(t, mount)
	port := redistest.FreePort(t)
	fill := fmt.Sprintf("while [ ! -e %s ] && kill -0 $$; do sleep 0.1; done; dd if=/dev/zero of=%s/fill bs=4k", full, small)
	nats := says(t, namespaced(t, fmt.Sprintf("%s && { { %s; } 2>&1 & } && exec %s -a 127.0.0.1 -p %s -js -sd %s", mount, fill, named(t, natsServer), port, small)))
	w := newWorkersOnNATS(t, "nats://127.0.0.1:"+port)
	for _, said := range w.said {
		heard(t, said, "joined the farm")
	}
	run := w.run("out", "--nats", w.url, "--duration", "6s")
	said := says(t, run)
	ctx, cancel := context.WithTimeout(t.Context(), endLimit)
	defer cancel()
	for _, name := range []string{"w1", "w2"} {
		await(t, ctx, func() error { return anyEvents(filepath.Join(w.dir, "out"), name) })
	}
	if err := os.WriteFile(full, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	if code := run.ProcessState.ExitCode(); code != checker.HarnessError.Exit() || !strings.Contains(said.String(), "NATS has not acknowledged") {
		t.Errorf("exit %d\n%s\nNATS: %s", code, said, nats)
	}
	own := map[string][]history.Event{}
	for _, name := range []string{"w1", "w2"} {
		events, acknowledged := w.recorded(t, name, filepath.Join(w.dir, "out", "latest", "workers"), true)
		if own[name] = events; len(events) <= acknowledged {
			t.Errorf("%s has recorded %d events, and %d were acknowledged: the disk was not full", name, len(events), acknowledged)
		}
	}
	check := exec.Command(w.torture, "check", filepath.Join(w.dir, "out", "latest"))
	text := outcome(check)
	if code := check.ProcessState.ExitCode(); code != checker.HarnessError.Exit() || strings.Contains(text, "evidence    0 grants") { // the coordinator tells of its trouble, too
		t.Errorf("of the workers' own files, check makes %d\n%s", code, text)
	}
	merged := readEvents(t, filepath.Join(w.dir, "out", "latest"))
	for name, events := range own {
		sameEvents(t, name, true, events, events, merged)
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
	if said, err := namespaced(t, script).CombinedOutput(); err != nil {
		redistest.Missing(t, fmt.Errorf("nothing can be mounted: %w: %s", err, said))
	}
}

// outcome runs cmd, and returns all that it said; its exit code is in its state.
func outcome(cmd *exec.Cmd) string {
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	_ = cmd.Run()
	return said.String()
}
