package main_test

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/reports"
)

var clockSeeds = flag.Int("clock-seeds", 1, "runs of each kind of TestClockOfAWorkerIsMoved")

// A movable is a torture whose processes' clocks can be moved from outside. Every time
// that a Go program takes counts from time.startNano, so that a process in which this
// becomes less has a monotonic clock that is ahead by as much: for its lock, its deadlines
// and its recorder alike. libfaketime moves nothing in a Go program, which reads the clock
// through the vDSO and not through a library.
type movable struct {
	path   string
	origin int64 // address of time.startNano
}

// buildMovable builds torture as go build does, with the table of symbols that go test
// leaves out.
func buildMovable(t *testing.T) movable {
	t.Helper()
	m := movable{path: filepath.Join(t.TempDir(), "torture")}
	if said, err := exec.CommandContext(t.Context(), "go", "build", "-buildmode=exe", "-ldflags=-w", "-o", m.path, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, said)
	}
	file, err := elf.Open(m.path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == "time.startNano" })
	if i < 0 {
		t.Fatal("package time has no startNano any more: see how runtimeNano is used there")
	}
	m.origin = int64(symbols[i].Value)
	return m
}

// move has the clock of a process go on by so much at once.
func (m movable) move(t *testing.T, pid int, by time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	await(t, ctx, func() error { // a process that was just started may not have its program, or its clock, yet
		memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer memory.Close()
		var word [8]byte
		if _, err := memory.ReadAt(word[:], m.origin); err != nil {
			return err
		}
		began := int64(binary.NativeEndian.Uint64(word[:]))
		if began == 0 {
			return errors.New("its clock has not begun")
		}
		binary.NativeEndian.PutUint64(word[:], uint64(began-int64(by)))
		_, err = memory.WriteAt(word[:], m.origin)
		return err
	})
}

// The clock of one of two workers is 2 s off, or is moved on or back by as much while its
// clients hold locks. The full lock is accused of nothing; a lock that grants twice, across the
// two, is. That the clock was moved is said.
func TestClockOfAWorkerIsMoved(t *testing.T) {
	t.Parallel()
	if !haveRedis(t) {
		t.Skip("redis-server is not installed")
	}
	torture := buildMovable(t)
	for _, c := range []struct {
		name      string
		off, step time.Duration
		lock      string // the one of two that a single run plays
	}{{"off", 2 * time.Second, 0, "exists-set"}, {"moved on", 0, 2 * time.Second, "redlock"}, {"moved back", 0, -2 * time.Second, "redlock"}} {
		for _, lock := range []string{"redlock", "exists-set"} {
			if *clockSeeds == 1 && lock != c.lock {
				continue
			}
			for seed := range *clockSeeds {
				t.Run(fmt.Sprintf("%s/%s/%d", c.name, lock, seed+1), func(t *testing.T) {
					verdict, said, found := torture.play(t, lock, seed+1, c.off, c.step)
					for tries := 1; verdict == checker.HarnessError && tries < 3; tries++ { // too busy a machine to begin
						t.Log(said)
						verdict, said, found = torture.play(t, lock, seed+1, c.off, c.step)
					}
					switch {
					case lock == "redlock" && (verdict != checker.Pass && verdict != checker.Inconclusive || len(found) > 0):
						t.Errorf("the lock is sound, and was found %v\n%s", found, said)
					case lock != "redlock" && verdict != checker.Fail:
						t.Errorf("the lock grants twice, and that was not found\n%s", said)
					}
				})
			}
		}
	}
}

// play plays a run with one client at each of two workers, of which the second's clock is
// off from the beginning, or is moved by step in mid-run; it returns what was found
// between the clients of both.
func (m movable) play(t *testing.T, lock string, seed int, off, step time.Duration) (_ checker.Verdict, said string, found []string) {
	dir := t.TempDir()
	url := "nats://127.0.0.1:" + redistest.FreePort(t)
	var workers []*exec.Cmd
	for _, name := range []string{"w1", "w2"} {
		w := exec.CommandContext(t.Context(), m.path, "worker", "--join", url, "--name", name, "--dir", filepath.Join(dir, name), "--slots", "0")
		startUntilTheEnd(t, w)
		workers = append(workers, w)
	}
	victim := workers[1].Process.Pid
	if off != 0 {
		m.move(t, victim, off)
	}
	out := filepath.Join(dir, "out")
	cmd := exec.CommandContext(t.Context(), m.path, "run", "calm", "--lock", lock, "--testbed", "process", "--workers", "2", "--farm", url,
		"--clients", "2", "--keys", "1", "--think", "1ms", "--ttl", "2s", "--duration", "5s", "--seed", fmt.Sprint(seed), "--out", out)
	ended := make(chan string, 1)
	go func() { ended <- outcome(cmd) }()
	if step != 0 {
		await(t, t.Context(), func() error { return anyEvents(out, "w2") })
		time.Sleep(time.Duration(rand.New(rand.NewPCG(uint64(seed), 0)).Int64N(int64(2 * time.Second))))
		m.move(t, victim, step)
	}
	said = <-ended
	var results struct {
		Violations []struct {
			ID     string
			Owners []string
		}
	}
	raw, err := os.ReadFile(filepath.Join(out, reports.Latest, "results.json"))
	if err == nil {
		err = json.Unmarshal(raw, &results)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	meta, err := reports.ReadMeta(filepath.Join(out, reports.Latest))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range meta.Workers {
		if moved := w.Stepped.Round(time.Second); w.Name == "w2" && moved != step.Abs() || w.Name != "w2" && moved != 0 {
			t.Errorf("the clock of %s counts as moved by %v\n%s", w.Name, w.Stepped, said)
		}
	}
	for _, v := range results.Violations {
		found = append(found, v.ID+" "+strings.Join(v.Owners, " "))
	}
	verdict := slices.IndexFunc(verdicts, func(v checker.Verdict) bool { return v.Exit() == cmd.ProcessState.ExitCode() })
	if verdict < 0 {
		t.Fatalf("exit %d\n%s", cmd.ProcessState.ExitCode(), said)
	}
	return verdicts[verdict], said, found
}

var verdicts = []checker.Verdict{checker.Pass, checker.Fail, checker.Inconclusive, checker.HarnessError}

// anyEvents says whether the coordinator of a run below out has taken in events of a worker.
func anyEvents(out, worker string) error {
	paths, err := filepath.Glob(filepath.Join(out, "*-*", "workers", worker+".jsonl.zst"))
	if err != nil || len(paths) == 0 {
		return errors.New("no run has begun")
	}
	if at, err := os.Stat(paths[0]); err != nil || at.Size() == 0 {
		return errors.New("no event has come")
	}
	return nil
}
