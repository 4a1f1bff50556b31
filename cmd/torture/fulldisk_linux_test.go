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
)

// A run on a disk that fills up is a harness error with that as its cause, and
// names no file that is not there. The disk is a small one in a mount namespace
// of its own.
func TestFullDisk(t *testing.T) {
	if !haveRedis(t) {
		t.Skip("redis-server is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	torture := filepath.Join(t.TempDir(), "torture")
	if err := os.Symlink(self, torture); err != nil {
		t.Fatal(err)
	}
	small := t.TempDir()
	for _, c := range []struct{ size, cause string }{{"60k", ""}, {"160k", "write history"}} {
		mount := fmt.Sprintf("mount -t tmpfs -o size=%s tmpfs %s", c.size, small)
		in := func(script string) *exec.Cmd {
			ctx, cancel := context.WithTimeout(t.Context(), endLimit)
			t.Cleanup(cancel)
			return exec.CommandContext(ctx, "unshare", "--map-root-user", "--mount", "/bin/sh", "-c", script)
		}
		if said, err := in(mount).CombinedOutput(); err != nil {
			if os.Getenv(requireAll) != "" {
				t.Fatalf("no small disk can be made: %v: %s", err, said)
			}
			t.Skipf("no small disk can be made: %v: %s", err, said)
		}
		cmd := in(mount + fmt.Sprintf(" && exec %s run calm --testbed process --lock single --faults none --duration 30s --clients 8 --out %s", torture, small))
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		_ = cmd.Run() // its exit code tells
		text := said.String()
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
