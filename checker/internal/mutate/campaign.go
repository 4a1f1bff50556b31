package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// campaign tries all mutants and says what became of them.
func (w *workshop) campaign(ctx context.Context, c config, mutants []*mutant, reasons map[string]string) (int, error) {
	found := len(mutants)
	table, err := w.buildAll(ctx, mutants)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := w.probeAll(ctx); err != nil && ctx.Err() == nil {
		return 0, err
	}
	fmt.Printf("%d mutants, %d more that do not compile; without one the %d tests take %v, one by one\n",
		len(table), found-len(table), len(w.probes), time.Since(began).Round(time.Millisecond))
	if c.budget > 0 { // all files alike, whatever the time is
		fmt.Printf("as many as %v leave time for, in the order of seed %d\n", c.budget, c.seed)
		rand.New(rand.NewPCG(c.seed, uint64(len(table)))).Shuffle(len(table), func(i, j int) { table[i], table[j] = table[j], table[i] })
	}
	tried := time.Now()
	outcomes, err := w.tryAll(ctx, c, table, reasons)
	if err != nil {
		return 0, err
	}
	left := len(slices.DeleteFunc(slices.Clone(outcomes), func(o outcome) bool { return o != untried }))
	fmt.Printf("%d of %d tried, %.1f a minute\n", len(table)-left, len(table), float64(len(table)-left)/max(time.Since(tried).Minutes(), 1.0/60))
	code := report(table, outcomes, reasons)
	if code == 0 && c.budget == 0 && slices.Contains(outcomes, untried) {
		code = 3
	}
	return code, nil
}

// tryAll runs the table on c.jobs workers, of which one builds at a time, and tells
// at once what stands out.
func (w *workshop) tryAll(ctx context.Context, c config, table []*mutant, reasons map[string]string) ([]outcome, error) {
	outcomes, errs := make([]outcome, len(table)), make([]error, len(table))
	next := make(chan int)
	var building, telling sync.Mutex
	var workers sync.WaitGroup
	for range max(1, c.jobs) {
		workers.Go(func() {
			for i := range next {
				if table[i].alone {
					building.Lock()
				}
				outcomes[i], errs[i] = w.try(ctx, table[i])
				if table[i].alone {
					building.Unlock()
				}
				telling.Lock()
				fmt.Print(wrong(table[i], outcomes[i], reasons))
				telling.Unlock()
			}
		})
	}
	for i := range table {
		next <- i
	}
	close(next)
	workers.Wait()
	return outcomes, errors.Join(errs...)
}

// wrong says what is wrong with a mutant's outcome, or nothing.
func wrong(m *mutant, o outcome, reasons map[string]string) string {
	reason := reasons[m.name()]
	switch {
	case o == survived && reason == "":
		before, after := m.change()
		return fmt.Sprintf("SURVIVED %s:%d\n- %s\n+ %s\n  %s\n", m.file, m.line, before, after, m.name())
	case o == killed && reason != "":
		return fmt.Sprintf("KILLED, though listed as one that cannot be: %s\n", m.name())
	case o == undecided:
		return fmt.Sprintf("UNDECIDED, its tests came to no end here:\n  %s\n", m.name())
	}
	return ""
}

// A tally is how many mutants came to which end.
type tally struct {
	by      [undecided + 1]int
	excused int // of the survivors
}

func (t tally) String() string {
	return fmt.Sprintf("killed %d, survived %d (accepted %d), undecided %d, do not compile %d, not tried %d",
		t.by[killed], t.by[survived], t.excused, t.by[undecided], t.by[unbuilt], t.by[untried])
}

// report prints what became of the mutants of each file and of all, and returns the
// exit code.
func report(table []*mutant, outcomes []outcome, reasons map[string]string) (code int) {
	files := map[string]tally{}
	var all tally
	for i, m := range table {
		t := files[m.file]
		for _, t := range []*tally{&t, &all} {
			t.by[outcomes[i]]++
			if outcomes[i] == survived && reasons[m.name()] != "" {
				t.excused++
			}
		}
		files[m.file] = t
		switch {
		case wrong(m, outcomes[i], reasons) == "":
		case outcomes[i] != undecided:
			code = 1
		case code == 0:
			code = 3
		}
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		fmt.Printf("%-20s %v\n", file, files[file])
	}
	fmt.Println(all)
	return code
}
