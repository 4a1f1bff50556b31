package main_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/app"
)

var (
	killings     = flag.Int("killings", 3, "runs of which TestKilledFromOutside kills a process at a random moment")
	killingsSeed = flag.Uint64("killings-seed", 1, "seed of TestKilledFromOutside")
)

// victims are the kinds of processes of a run, with the run that has them.
var victims = []struct {
	kind string
	args []string
	pick func(run int, dir string) []int
}{
	{"node", []string{"--lock", "redlock", "--faults", "random", "--ttl", "500ms"}, serversOf("n")},
	{"store", []string{"--lock", "redlock", "--faults", "random", "--ttl", "500ms"}, serversOf("store")},
	{"child", []string{"--lock", "redis-py", "--faults", "none", "--ttl", "2s"}, childrenOf},
}

// A run one of whose processes is killed by somebody else at any moment is never
// a FAIL of the lock by it: it ends as a harness error that names the victim, or
// as it would have. Whoever judges its history later says the same, and
// nothing is left behind.
func TestKilledFromOutside(t *testing.T) {
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
	rng := rand.New(rand.NewPCG(*killingsSeed, 0))
	exits := map[string]int{}
	for i := range *killings {
		v := victims[i%len(victims)]
		out, temp := t.TempDir(), t.TempDir()
		after := time.Duration(rng.Int64N(int64(4 * time.Second)))
		killed, exit, said := killOne(t, torture, out, temp, v.args, after, func(run int, dir string) int {
			pids := v.pick(run, dir)
			if len(pids) == 0 {
				return 0
			}
			return pids[rng.IntN(len(pids))]
		})
		exits[fmt.Sprintf("%s killed %t exit %d", v.kind, killed, exit)]++
		harm := strings.Contains(said, "not by this run") || strings.Contains(said, "nobody had told it to")
		switch {
		case exit != checker.Pass.Exit() && exit != checker.Inconclusive.Exit() && exit != checker.HarnessError.Exit():
			t.Errorf("run %d, %s after %v: exit %d\n%s", i+1, v.kind, after, exit, said)
		case exit == checker.HarnessError.Exit() && (!killed || !harm):
			t.Errorf("run %d, %s after %v: a harness error by something else\n%s", i+1, v.kind, after, said)
		}
		if left := running(out); len(left) > 0 {
			t.Errorf("run %d left %q", i+1, left)
		}
		if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
			t.Errorf("run %d left %q", i+1, left)
		}
		if dirs, _ := filepath.Glob(filepath.Join(out, "*-*")); exit == checker.HarnessError.Exit() && len(dirs) == 1 {
			var again bytes.Buffer
			if code := app.Run([]string{"check", dirs[0]}, &again, &again); code != exit {
				t.Errorf("run %d: check exits %d, the run %d\n%s", i+1, code, exit, &again)
			}
		}
	}
	t.Logf("%v", exits)
}

// killOne starts a run, kills the process that pick names some time after the
// run's servers were there, and returns how the run ended.
func killOne(t *testing.T, torture, out, temp string, args []string, after time.Duration, pick func(run int, dir string) int) (killed bool, exit int, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), endLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, torture, append([]string{"run", "standard", "--testbed", "process",
		"--duration", "2s", "--clients", "4", "--rate", "40", "--out", out}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	awaitHistory(ctx, out)
	var err error
	select {
	case err = <-ended:
	case <-time.After(after):
		if dirs, _ := filepath.Glob(filepath.Join(out, "*-*")); len(dirs) == 1 {
			pid := pick(cmd.Process.Pid, dirs[0])
			killed = pid > 0 && syscall.Kill(pid, syscall.SIGKILL) == nil
		}
		err = <-ended
	}
	var failed *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &failed) {
		t.Fatalf("%v: %s", err, &text)
	}
	return killed, cmd.ProcessState.ExitCode(), text.String()
}

// awaitHistory waits until the run below out records: its servers are there.
func awaitHistory(ctx context.Context, out string) {
	for ctx.Err() == nil {
		if files, _ := filepath.Glob(filepath.Join(out, "*-*", "history*")); len(files) > 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// serversOf returns what picks the living servers of a run whose names begin
// so.
func serversOf(prefix string) func(run int, dir string) []int {
	return func(_ int, dir string) (pids []int) {
		lines, _ := os.ReadFile(filepath.Join(dir, "nodes", "pids"))
		for line := range strings.Lines(string(lines)) {
			first, conf, _ := strings.Cut(strings.TrimSpace(line), " ")
			args, err := os.ReadFile("/proc/" + first + "/cmdline")
			if pid, _ := strconv.Atoi(first); err == nil && bytes.Contains(args, []byte(conf)) &&
				strings.HasPrefix(filepath.Base(filepath.Dir(conf)), prefix) {
				pids = append(pids, pid)
			}
		}
		return pids
	}
}

// childrenOf returns the processes that a run's lock lives in.
func childrenOf(run int, _ string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		name, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == strconv.Itoa(run) && strings.Contains(name, "(python") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}
