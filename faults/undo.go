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

// undo is the stack of repairs of one injection, and what it has claimed.
type undo struct {
	mu     sync.Mutex
	stack  []*repair
	claims []func() // each gives one back
	over   bool     // nothing needs to be claimed any more but what is broken
}

// add puts a repair on the stack.
func (u *undo) add(r *repair) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stack = append(u.stack, r)
}

// claim registers how to give back what was claimed.
func (u *undo) claim(leave func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.claims = append(u.claims, leave)
	u.giveBack()
}

// heal runs every repair, the last first, each until it has succeeded once.
// One that fails or panics stays, and does not keep the others from running.
func (u *undo) heal(ctx context.Context) (string, error) {
	u.mu.Lock()
	stack := slices.Clone(u.stack)
	u.mu.Unlock()
	var receipts []string
	var errs []error
	for _, r := range slices.Backward(stack) {
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

// leave gives back what was claimed, once the end is recorded: the next fault there begins later, also in the
// history. What is broken stays claimed until it is mended, be it by a heal that was given up as hung.
func (u *undo) leave() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
	u.giveBack()
}

// giveBack gives back what is claimed, if all is over and healed. The caller holds mu.
func (u *undo) giveBack() {
	if !u.over || len(u.stack) > 0 {
		return
	}
	for _, leave := range u.claims {
		leave()
	}
	u.claims = nil
}

func (u *undo) remove(r *repair) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stack = slices.DeleteFunc(u.stack, func(x *repair) bool { return x == r })
	u.giveBack()
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
		errs = append(errs, &BrokenError{Broken: r.broken, ByHand: r.byHand, Err: err})
	}
	return errors.Join(errs...)
}
