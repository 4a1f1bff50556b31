package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A repair undoes one thing that a fault did.
type repair struct {
	broken string // what is wrong until then
	byHand string // how a person could mend it
	heal   func(ctx context.Context) (receipt string, err error)
	claim  bool // it only gives back what was claimed, once all else is healed
}

// A BrokenError says what a heal left broken, and how to mend it by hand.
type BrokenError struct {
	Broken string
	ByHand string
	Err    error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("%s: %v (by hand: %s)", e.Broken, e.Err, e.ByHand)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// undo is the stack of repairs of one injection.
type undo struct {
	mu    sync.Mutex
	stack []*repair
}

// add puts a repair on the stack.
func (u *undo) add(r *repair) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stack = append(u.stack, r)
}

// heal runs every repair, the last first, each until it has succeeded once.
// One that fails or panics stays, and does not keep the others from running,
// but for claims: what is broken must not be hurt by others.
func (u *undo) heal(ctx context.Context) (string, error) {
	u.mu.Lock()
	stack := slices.Clone(u.stack)
	u.mu.Unlock()
	var receipts []string
	var errs []error
	for _, r := range slices.Backward(stack) {
		if r.claim && len(errs) > 0 {
			continue
		}
		receipt, err := r.run(ctx)
		if err != nil {
			errs = append(errs, &BrokenError{Broken: r.broken, ByHand: r.byHand, Err: err})
			continue
		}
		u.remove(r)
		if receipt != "" {
			receipts = append(receipts, receipt)
		}
	}
	return strings.Join(receipts, "; "), errors.Join(errs...)
}

func (u *undo) remove(r *repair) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stack = slices.DeleteFunc(u.stack, func(x *repair) bool { return x == r })
}

func (r *repair) run(ctx context.Context) (receipt string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("heal panicked: %v", p)
		}
	}()
	return r.heal(ctx)
}

// outstanding describes what is broken still.
func (u *undo) outstanding(err error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	var errs []error
	for _, r := range u.stack {
		if r.claim {
			continue
		}
		errs = append(errs, &BrokenError{Broken: r.broken, ByHand: r.byHand, Err: err})
	}
	return errors.Join(errs...)
}
