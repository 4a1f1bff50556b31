package faults

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locktorture/faults/watch"
)

// A Step is one line of a schedule: at the moment When, inject Fault, and heal
// it For later, or at the moment Until where that comes before: of another client than
// the victim, with the key of the moment When, and of no lease from before the fault.
type Step struct {
	When  Trigger
	For   time.Duration
	Until watch.Moment
	Lag   time.Duration // from that moment to the heal; in virtual time nothing else may happen at its instant
	Fault Fault
}

// A Schedule is the nemesis's plan. Steps may overlap.
type Schedule []Step

// Check says which steps of s the target cannot suffer, and who could.
func (s Schedule) Check(t *Target) error {
	refused := map[string]error{}
	for _, step := range s {
		if err := step.Fault.Supports(t); err != nil {
			refused[step.Fault.Name()] = fmt.Errorf("fault %s: %w", step.Fault.Name(), err)
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		errs = append(errs, refused[name])
	}
	return errors.Join(errs...)
}

// PhaseLocked counts the steps that wait for a moment of the lock.
func (s Schedule) PhaseLocked() int {
	n := 0
	for _, step := range s {
		if step.When.On != "" {
			n++
		}
	}
	return n
}

// String counts the faults of s, in the order of their first step:
// "latency ×3  kill ×2".
func (s Schedule) String() string {
	count := map[string]int{}
	var order []string
	for _, step := range s {
		name := step.Fault.Name()
		if count[name] == 0 {
			order = append(order, name)
		}
		count[name]++
	}
	for i, name := range order {
		order[i] = fmt.Sprintf("%s ×%d", name, count[name])
	}
	return strings.Join(order, "  ")
}
