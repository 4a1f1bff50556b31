//go:build unix

package app_test

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"locktorture/cmd/torture/app"
	"locktorture/cmd/torture/internal/redistest"
)

// onGiven, in the environment, has TestOnGiven play on the server there.
const onGiven = "LOCKTORTURE_TEST_ON_GIVEN"

// TestOnGiven is a test of somebody else's, where a test has started it.
func TestOnGiven(t *testing.T) {
	if addr := os.Getenv(onGiven); addr != "" {
		app.Test(t, newDeletingLock, app.Named("calm").For(5*time.Minute).With("redis", addr).With("clients", "2").With("faults", "none"))
	}
}

// Ctrl-C during go test leaves no key on servers of the user's, and no test goes on.
func TestInterruptedInGoTest(t *testing.T) {
	t.Parallel()
	given := redistest.Start(t, 1)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOnGiven$", "-test.timeout=20m")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &said, &said, append(os.Environ(), onGiven+"="+given[0].Addr())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	for deadline := time.Now().Add(2 * time.Minute); len(redistest.Keys(t, given)) == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("nothing was written: %s", &said)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its code says how
	if code := cmd.ProcessState.ExitCode(); code != 130 || !bytes.Contains(said.Bytes(), []byte("VERDICT")) {
		t.Errorf("exit %d: %s", code, &said)
	}
	if left := redistest.Keys(t, given); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
