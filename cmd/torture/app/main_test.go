package app_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"locktorture/cmd/torture/app"
)

// mine is the name under which this binary is the command with one more lock in it.
const mine = "torture-mine"

// The runs that these tests start mostly wait: more of them go on at once than there are
// processors, unless -parallel says otherwise.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "6"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testscript.Main(m, map[string]func(){mine: func() { app.Main(app.WithLock("mine", newDeletingLock)) }})
}

// process runs the command with one more lock in it in a process and a folder of its own,
// beside whatever other tests do.
func process(t *testing.T, dir string, args ...string) (code int, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, mine, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || ctx.Err() != nil {
		t.Fatalf("torture %q: %v\n%s", args, err, out)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}
