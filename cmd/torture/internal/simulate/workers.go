package simulate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/search"
)

// variable, in the environment, makes this program a worker; it holds the job.
const variable = "LOCKTORTURE_SIMULATE_JOB"

// exitHarness is the exit code of trouble of the harness.
const exitHarness = 70

// Working reports whether this process is a worker, by Serve.
func Working() bool { return os.Getenv(variable) != "" }

// Serve explores this process's job, telling each round as a line of JSON, until
// it is done or in ends. It returns the exit code.
//
// A worker has a process of its own: a panic in a goroutine of the lock's ends
// the worker alone, and on a single processor a bubble is several times faster.
func Serve(locks catalogue.Locks, in io.Reader, out, errs io.Writer) int {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // the first process ends this one
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(800) // ten percent more attempts a second than with 400
	var j Job
	err := json.Unmarshal([]byte(os.Getenv(variable)), &j)
	var p *Player
	if err == nil {
		p, err = j.player(locks)
	}
	if err != nil {
		fmt.Fprintln(errs, err)
		return exitHarness
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
		time.AfterFunc(graceful, func() { os.Exit(exitHarness) })
	}()
	lines := json.NewEncoder(out)
	p.Hung = func(r search.Round) {
		fmt.Fprintf(errs, "the round of seed %d does not end: something in the lock never waits, and virtual time stands still\n", r.Seed)
		os.Exit(exitHarness)
	}
	p.do(ctx, j, func(t RoundReport) { err = errors.Join(err, lines.Encode(t)) })
	if err != nil {
		return exitHarness
	}
	return 0
}

// do does a job: a search, or to make something small.
func (p *Player) do(ctx context.Context, j Job, tell func(RoundReport)) {
	if j.Shrink != nil {
		tell(RoundReport{Found: []Found{p.shrunk(ctx, *j.Shrink)}, CPU: processorTime()})
		return
	}
	if j.Exhaust != nil {
		p.exhaust(ctx, *j.Exhaust, j.Budget, tell)
		return
	}
	p.Explore(ctx, j, tell)
}

// RunHere does a job in this process.
func RunHere(ctx context.Context, locks catalogue.Locks, j Job, tell func(RoundReport)) error {
	p, err := j.player(locks)
	if err != nil {
		return err
	}
	p.do(ctx, j, tell)
	return nil
}

// RunWorkers has so many processes of this program do the job, each a part of it, until
// they are done or ctx ends. tell is called by one goroutine at a time. The error says
// what ended a worker early.
func RunWorkers(ctx context.Context, j Job, workers int, tell func(RoundReport)) error {
	var mu sync.Mutex
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := j.parts(workers)
	errs := make([]error, len(parts))
	var all sync.WaitGroup
	for i, part := range parts {
		all.Go(func() {
			errs[i] = runWorker(ctx, part, func(t RoundReport) {
				mu.Lock()
				defer mu.Unlock()
				tell(t)
				if j.First && len(t.Found) > 0 {
					cancel()
				}
			})
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// parts are so many parts of a job at most: some of its rounds, with seeds of their own, or
// some of its programs.
func (j Job) parts(workers int) (all []Job) {
	for i := range workers {
		part := j
		if e := j.Exhaust; e != nil {
			part.Exhaust = &Exhaustion{Bounds: e.Bounds}
			for n := i; n < len(e.Programs); n += workers {
				part.Exhaust.Programs = append(part.Exhaust.Programs, e.Programs[n])
			}
			if len(part.Exhaust.Programs) == 0 {
				continue
			}
		} else if part.Seed, part.Rounds = j.Seed+uint64(i)<<32, share(j.Rounds, i, workers); j.Rounds > 0 && part.Rounds == 0 {
			continue
		}
		all = append(all, part)
	}
	return all
}

// share parts n into shares.
func share(n, i, of int) int { return n/of + min(1, max(0, n%of-i)) }

// graceful is how long a worker may take to finish its round.
const graceful = 20 * time.Second

func runWorker(ctx context.Context, j Job, tell func(RoundReport)) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	job, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	var said bytes.Buffer
	cmd := &exec.Cmd{Path: self, Args: os.Args[:1], Env: append(os.Environ(), variable+"="+string(job)), Stderr: &said}
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	stop := context.AfterFunc(ctx, func() {
		_ = in.Close()
		time.AfterFunc(graceful, func() { _ = cmd.Process.Kill() })
	})
	defer stop()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var t RoundReport
		if err := json.Unmarshal(lines.Bytes(), &t); err == nil {
			tell(t)
		}
	}
	if err := cmd.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("worker with seed %d: %w: %s", j.Seed, err, firstLines(said.String()))
	}
	return lines.Err()
}

// firstLines is what a process said first.
func firstLines(text string) string {
	lines := strings.SplitN(strings.TrimSpace(text), "\n", 4)
	return strings.Join(lines[:min(3, len(lines))], " ")
}
