package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// campaign tries all mutants and says what became of them.
func (w *workshop) campaign(ctx context.Context, c config, mutants []*mutant, reasons map[string]string) (int, error) {
	together, alone := split(mutants)
	all, fit, err := w.buildAll(ctx, together)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	switch passed, err := w.passes(ctx, all, 0, 10*time.Minute); {
	case err != nil:
		return 0, err
	case !passed && ctx.Err() == nil:
		return 0, errors.New("the tests fail without any mutant")
	}
	limit := 20*time.Second + 5*time.Since(began)
	fmt.Printf("%d mutants, %d more that do not compile; without one the tests take %v\n", len(fit)+len(alone), len(together)-len(fit), time.Since(began).Round(time.Millisecond))
	table := append(fit, alone...)
	if c.budget > 0 { // all files alike, whatever the time is
		rand.New(rand.NewPCG(1, uint64(len(table)))).Shuffle(len(table), func(i, j int) { table[i], table[j] = table[j], table[i] })
	}
	outcomes, err := w.tryAll(ctx, c, all, table, limit)
	if err != nil {
		return 0, err
	}
	return report(table, outcomes, reasons), nil
}

func split(mutants []*mutant) (together, alone []*mutant) {
	for _, m := range mutants {
		if m.kind == literal {
			alone = append(alone, m)
		} else {
			together = append(together, m)
		}
	}
	return together, alone
}

// tryAll runs the table on c.jobs workers; literals are built by the first alone.
func (w *workshop) tryAll(ctx context.Context, c config, all string, table []*mutant, limit time.Duration) ([]outcome, error) {
	outcomes, errs := make([]outcome, len(table)), make([]error, len(table))
	next := make(chan int)
	var building sync.Mutex
	var workers sync.WaitGroup
	for range max(1, c.jobs) {
		workers.Go(func() {
			for i := range next {
				if table[i].kind == literal {
					building.Lock()
				}
				outcomes[i], errs[i] = w.try(ctx, all, table[i], limit)
				if table[i].kind == literal {
					building.Unlock()
				}
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

// report prints the survivors, and returns the exit code.
func report(table []*mutant, outcomes []outcome, reasons map[string]string) int {
	count, code := map[outcome]int{}, 0
	excused := 0
	for i, m := range table {
		count[outcomes[i]]++
		reason := reasons[m.name()]
		switch {
		case outcomes[i] == survived && reason != "":
			excused++
		case outcomes[i] == survived:
			code = 1
			fmt.Printf("SURVIVED %s:%d\n- %s\n+ %s\n  %s\n", m.file, m.line, oneLine(m.before), oneLine(m.after), m.name())
		case outcomes[i] == killed && reason != "":
			code = 1
			fmt.Printf("KILLED, though listed as one that cannot be: %s\n", m.name())
		}
	}
	fmt.Printf("killed %d, survived %d (accepted %d), do not compile %d, not tried %d\n",
		count[killed], count[survived], excused, count[unbuilt], count[untried])
	return code
}
