package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// An outcome is what became of a mutant.
type outcome uint8

const (
	killed   outcome = iota
	survived         // every test passed
	unbuilt          // the compiler does not take it
	untried          // the budget was spent before
)

// stages are the tests that a mutant must get past, the quick ones first.
var stages = [][]string{
	{"-test.short", "-test.skip", slow},
	{"-test.run", slow},
}

// slow matches the tests that take more than a moment.
const slow = "AllSmall|Reuse|Many|Memory|Soak|Mutants|ReadAsHeld|Determinism"

// passes reports whether a binary with the mutant alive passes all tests. A
// test that hangs has noticed.
func (w *workshop) passes(ctx context.Context, binary string, id int, limit time.Duration) (bool, error) {
	for _, stage := range stages {
		arguments := append([]string{"-test.failfast", "-test.timeout", limit.String()}, stage...)
		ctx, cancel := context.WithTimeout(ctx, 2*limit)
		cmd := exec.CommandContext(ctx, binary, arguments...)
		cmd.Dir, cmd.Env = w.dir, append(os.Environ(), fmt.Sprintf("%s=%d", environment, id))
		err := cmd.Run()
		cancel()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			return false, fmt.Errorf("run %s: %w", binary, err)
		}
		if err != nil {
			return false, nil
		}
	}
	return true, nil
}

// try tells what becomes of one mutant.
func (w *workshop) try(ctx context.Context, all string, m *mutant, limit time.Duration) (outcome, error) {
	binary, id := all, m.id
	if m.kind == literal {
		one, err := w.buildOne(ctx, m)
		if ctx.Err() != nil {
			return untried, nil
		}
		if err != nil {
			return unbuilt, nil
		}
		binary, id = one, 0
	}
	passed, err := w.passes(ctx, binary, id, limit)
	switch {
	case ctx.Err() != nil:
		return untried, nil
	case err != nil:
		return untried, err
	case passed:
		return survived, nil
	}
	return killed, nil
}
