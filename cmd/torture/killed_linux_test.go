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
	"sync"
	"syscall"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/app"
	"locktorture/cmd/torture/internal/redistest"
)

var (
	killings     = flag.Int("killings", len(victims), "runs of which TestKilledFromOutside kills a process at a random moment")
	killingsSeed = flag.Uint64("killings-seed", 1, "seed of TestKilledFromOutside")
)

// A victim is a kind of processes of a run: set returns the arguments of a run that
// has such, and what picks them out.
type victim struct {
	kind string
	set  func(t *testing.T) (args []string, pick picker)
}

// A picker finds the processes of a kind that a run has: by the run's own process, and
// its directory.
type picker func(run int, dir string) []int

var victims = []victim{
	{"node", own(serversOf("n"), "--lock", "redlock", "--faults", "random", "--ttl", "500ms")},
	{"store", own(serversOf("store"), "--lock", "redlock", "--faults", "random", "--ttl", "500ms")},
	{"child", own(childrenOf, "--lock", "redis-py", "--faults", "none", "--ttl", "2s")},
	{"toxiproxy", beside(func(d deployment) *exec.Cmd { return d.proxy })},
	{"node behind toxiproxy", beside(func(d deployment) *exec.Cmd { return d.servers[2] })},
}

// own is a run that starts its servers itself.
func own(pick picker, args ...string) func(*testing.T) ([]string, picker) {
	return func(*testing.T) ([]string, picker) { return append([]string{"--testbed", "process"}, args...), pick }
}

// beside is a run beside the servers and the toxiproxy of a deployment.
func beside(victim func(deployment) *exec.Cmd) func(*testing.T) ([]string, picker) {
	return func(t *testing.T) ([]string, picker) {
		d := deploy(t)
		args := []string{"--testbed", "compose", "--lock", "redlock", "--faults", "random", "--ttl", "500ms",
			"--redis", strings.Join(d.addrs[:5], ","), "--store", d.addrs[5], "--toxiproxy", d.api}
		return args, func(int, string) []int { return []int{victim(d).Process.Pid} }
	}
}

// A run one of whose processes is killed by somebody else at any moment is never
// a FAIL of the lock by it: it ends as a harness error that names the victim, or
// as it would have. Whoever judges its history later says the same, and
// nothing is left behind.
func TestKilledFromOutside(t *testing.T) {
	t.Parallel()
	redistest.RequireServer(t)
	torture := named(t, "torture")
	var mu sync.Mutex
	exits := map[string]int{}
	t.Cleanup(func() { t.Logf("%v", exits) })
	for i := range *killings {
		v, rng := victims[i%len(victims)], rand.New(rand.NewPCG(*killingsSeed, uint64(i)))
		after := time.Duration(rng.Int64N(int64(4 * time.Second)))
		t.Run(fmt.Sprintf("%d %s after %v", i+1, v.kind, after), func(t *testing.T) {
			t.Parallel()
			out, temp := t.TempDir(), t.TempDir()
			args, pick := v.set(t)
			killed, exit, said := killOne(t, torture, out, temp, args, after, func(run int, dir string) int {
				pids := pick(run, dir)
				if len(pids) == 0 {
					return 0
				}
				return pids[rng.IntN(len(pids))]
			})
			mu.Lock()
			exits[fmt.Sprintf("%s killed %t exit %d", v.kind, killed, exit)]++
			mu.Unlock()
			harm := strings.Contains(said, "not by this run") || strings.Contains(said, "nobody had told it to") || strings.Contains(said, "any more")
			switch {
			case exit != checker.Pass.Exit() && exit != checker.Inconclusive.Exit() && exit != checker.HarnessError.Exit():
				t.Errorf("exit %d\n%s", exit, said)
			case exit == checker.HarnessError.Exit() && (!killed || !harm):
				t.Errorf("a harness error by something else\n%s", said)
			}
			if left := running(out); len(left) > 0 {
				t.Errorf("left %q", left)
			}
			if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
				t.Errorf("left %q", left)
			}
			if dirs, _ := filepath.Glob(filepath.Join(out, "*-*")); exit == checker.HarnessError.Exit() && len(dirs) == 1 {
				var again bytes.Buffer
				if code := app.Run([]string{"check", dirs[0]}, &again, &again); code != exit {
					t.Errorf("check exits %d, the run %d\n%s", code, exit, &again)
				}
			}
		})
	}
}

// killOne starts a run, kills the process that pick names some time after the
// run's servers were there, and returns how the run ended. A run that does not come so far,
// on a machine that is too busy for its servers to answer, is begun again.
func killOne(t *testing.T, torture, out, temp string, args []string, after time.Duration, pick func(run int, dir string) int) (killed bool, exit int, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), endLimit)
	defer cancel()
	for {
		cmd := exec.CommandContext(ctx, torture, append([]string{"run", withoutObjectives(t),
			"--duration", "2s", "--clients", "4", "--out", out}, args...)...)
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		var text bytes.Buffer
		cmd.Stdout, cmd.Stderr = &text, &text
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var err error
		begun := awaitHistory(ctx, out, cmd.Process.Pid)
		if begun {
			select {
			case err = <-ended:
			case <-time.After(after):
				if dirs, _ := filepath.Glob(filepath.Join(out, "*-*")); len(dirs) == 1 {
					pid := pick(cmd.Process.Pid, dirs[0])
					killed = pid > 0 && syscall.Kill(pid, syscall.SIGKILL) == nil
				}
				err = <-ended
			}
		} else {
			err = <-ended
		}
		exit = cmd.ProcessState.ExitCode()
		var failed *exec.ExitError
		switch {
		case ctx.Err() != nil || err != nil && !errors.As(err, &failed):
			t.Fatalf("%v: %s", err, &text)
		case begun || exit != checker.HarnessError.Exit():
			return killed, exit, text.String()
		}
		t.Logf("begun again: %s", &text)
	}
}

// awaitHistory waits until the run below out records: its servers are there. It reports
// false when the run has ended without.
func awaitHistory(ctx context.Context, out string, run int) bool {
	for ctx.Err() == nil {
		if files, _ := filepath.Glob(filepath.Join(out, "*-*", "history*")); len(files) > 0 {
			return true
		}
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", run)); err != nil || strings.Contains(string(state), ") Z ") {
			return false
		}
		time.Sleep(time.Millisecond)
	}
	return false
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
