package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A probe is one test, as it is without any mutant.
type probe struct {
	test string
	cost limits
	seen []byte // by site: 1 where it was evaluated
}

// A batch is some tests that are run together.
type batch struct {
	tests  []string
	limits limits
}

// cheap is the processor time of tests that are not worth a process of their own.
const cheap = 100 * time.Millisecond

// probeAll runs every test by itself: what it costs, and which mutants it can
// notice at all. It fails when a test fails without a mutant.
func (w *workshop) probeAll(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, w.all, "-test.list", "^(Test|Example)")
	cmd.Dir = w.home
	listed, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("list the tests: %w", err)
	}
	w.probes = nil
	for _, test := range strings.Fields(string(listed)) {
		p, err := w.probe(ctx, test)
		if err != nil {
			return err
		}
		if p.seen != nil {
			w.probes = append(w.probes, p)
		}
	}
	slices.SortStableFunc(w.probes, func(a, b probe) int { return cmp.Compare(a.cost.processor, b.cost.processor) })
	return nil
}

// unmutated bounds a test that no mutant disturbs.
var unmutated = limits{processor: 10 * time.Minute, clock: 20 * time.Minute}

// probe runs one test. Of one that is left out, for what it takes, seen is nil.
func (w *workshop) probe(ctx context.Context, test string) (probe, error) {
	seen := filepath.Join(w.scratch, "seen")
	if err := os.WriteFile(seen, make([]byte, w.sites), 0o600); err != nil {
		return probe{}, err
	}
	bounds := unmutated
	if w.quick > 0 {
		bounds.processor = w.quick + time.Second // it is given whole seconds
	}
	end, cost, err := w.start(ctx, call{binary: w.all, tests: []string{test}, seen: seen}, bounds)
	switch {
	case err != nil:
		return probe{}, err
	case w.quick > 0 && (end == spun || cost.processor > w.quick):
		return probe{test: test}, nil
	case end != passed:
		return probe{}, errors.New(test + " fails without any mutant")
	}
	marks, err := os.ReadFile(seen)
	return probe{test, cost, marks}, err
}

// batches are the tests that evaluate what m changes: the cheap ones together,
// then one after the other, as they cost.
func (w *workshop) batches(m *mutant) []batch {
	var out []batch
	together := limits{}
	for _, p := range w.probes {
		if !m.alone && p.seen[m.site] == 0 {
			continue
		}
		if n := len(out); n == 0 || together.processor+p.cost.processor > cheap {
			out, together = append(out, batch{}), limits{}
		}
		together.processor += p.cost.processor
		together.clock += p.cost.clock
		last := &out[len(out)-1]
		last.tests = append(last.tests, p.test)
		last.limits = limits{floor.processor + 10*together.processor, floor.clock + 20*together.clock}
	}
	return out
}
