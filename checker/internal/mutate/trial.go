package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// An outcome is what became of a mutant.
type outcome uint8

const (
	killed    outcome = iota
	survived          // every test passed
	unbuilt           // the compiler does not take it
	untried           // the budget was spent before
	undecided         // its tests came to no end, or were ended from outside
)

// An ending is how a run of some tests ended.
type ending uint8

const (
	passed ending = iota
	failed
	spun    // it used up its processor time
	hung    // it came to no end, and had processor time left
	stopped // by a signal that was not ours
)

// A call is one run of a test binary.
type call struct {
	binary string
	alive  int // the mutant; 0 is none
	tests  []string
	seen   string // file in which the sites that are evaluated are marked; "" is none
}

// limits bound a run. Processor time does not depend on who else uses the
// machine: who uses it up spins. Time on the clock does.
type limits struct {
	processor time.Duration
	clock     time.Duration
}

// floor is what the cheapest run is given.
var floor = limits{processor: 10 * time.Second, clock: 2 * time.Minute}

// memory is how much a run may map, in kB: a mutant that appends for ever must not
// take it from others.
const memory = 6 << 20

// limited runs "$@" with at most $1 seconds of processor time, and $2 kB.
const limited = `ulimit -t "$1"; ulimit -v "$2" 2>/dev/null; shift 2; exec "$@"`

// start runs tests, and tells what that cost.
func (w *workshop) start(ctx context.Context, r call, l limits) (ending, limits, error) {
	within, cancel := context.WithTimeout(ctx, l.clock)
	defer cancel()
	seconds := int(l.processor.Seconds())
	arguments := []string{"-c", limited, "sh", strconv.Itoa(seconds), strconv.Itoa(memory), r.binary,
		"-test.failfast", "-test.timeout=0", "-test.run=^(" + strings.Join(r.tests, "|") + ")$"}
	cmd := exec.CommandContext(within, "sh", append(arguments, w.flags...)...)
	cmd.Dir, cmd.WaitDelay = w.home, time.Second
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", environment, r.alive), seenEnvironment+"="+r.seen)
	began := time.Now()
	err := cmd.Run()
	var cost limits
	if state := cmd.ProcessState; state != nil {
		cost = limits{state.UserTime() + state.SystemTime(), time.Since(began)}
	}
	switch {
	case err == nil:
		return passed, cost, nil
	case within.Err() != nil:
		return hung, cost, ctx.Err()
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return stopped, cost, fmt.Errorf("run %s: %w", r.binary, err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		return failed, cost, nil
	}
	if cost.processor >= time.Duration(seconds)*time.Second*3/4 {
		return spun, cost, nil
	}
	return stopped, cost, nil
}

// try tells what becomes of one mutant.
func (w *workshop) try(ctx context.Context, m *mutant) (outcome, error) {
	if ctx.Err() != nil {
		return untried, nil
	}
	r := call{binary: w.all, alive: m.id}
	if m.alone {
		one, err := w.buildOne(ctx, m)
		if ctx.Err() != nil {
			return untried, nil
		}
		if err != nil {
			return unbuilt, nil
		}
		r.binary, r.alive = one, 0
	}
	for _, batch := range w.batches(m) {
		r.tests = batch.tests
		end, _, err := w.start(ctx, r, batch.limits)
		switch {
		case ctx.Err() != nil:
			return untried, nil
		case err != nil:
			return untried, err
		case end == failed, end == spun:
			return killed, nil
		case end == stopped:
			return undecided, nil
		case end == hung:
			return w.hangs(ctx, r, batch.limits), nil
		}
	}
	return survived, nil
}

// hangs tells whether it was the mutant that kept r from ending, and not the
// machine: the same tests, without it, must be through in a tenth of the time.
func (w *workshop) hangs(ctx context.Context, r call, l limits) outcome {
	r.binary, r.alive = w.all, 0
	l.clock /= 10
	if end, _, err := w.start(ctx, r, l); end != passed || err != nil {
		return undecided
	}
	return killed
}
