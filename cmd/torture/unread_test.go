package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"locktorture/checker"
)

// TestUnread ends by the verdict when nobody reads what is printed, neither the
// report nor the complaints.
func TestUnread(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	torture := filepath.Join(t.TempDir(), "torture") // the name makes this binary the command
	if err := os.Symlink(self, torture); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("..", "..", "checker", "testdata", "golden")
	for _, test := range []struct {
		args []string
		want int
	}{
		{[]string{"check", filepath.Join(golden, "S1.rejected.jsonl")}, checker.Fail.Exit()},
		{[]string{"check", "--json", filepath.Join(golden, "S1.accepted.jsonl")}, checker.Pass.Exit()},
		{[]string{"list", "locks"}, 0},
		{[]string{"check", filepath.Join(golden, "absent")}, exitUsage},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), torture, test.args...)
		cmd.Stdout, cmd.Stderr = w, w
		err = cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != test.want {
			t.Errorf("torture %q, unread: %v, want exit code %d", test.args, err, test.want)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
