package faults

import (
	"time"

	"locktorture/workload/history"
)

// A Result says what became of every step of a schedule, in its order.
type Result struct {
	Steps []StepResult `json:"steps"`
}

// A StepResult says what became of one step. Times are history times.
type StepResult struct {
	Fault      string          `json:"fault"`
	When       Trigger         `json:"-"`
	For        time.Duration   `json:"for_ns"`
	Target     *history.Target `json:"target,omitempty"`
	Started    time.Duration   `json:"started_ns,omitempty"` // 0: it never did
	Ended      time.Duration   `json:"ended_ns,omitempty"`   // 0: instant, or never healed
	TookEffect bool            `json:"bit"`
	Healed     bool            `json:"healed"` // or instant
	Receipts   []string        `json:"receipts,omitempty"`
	Err        string          `json:"err,omitempty"`
}

func (r *StepResult) add(receipt string) {
	if receipt != "" {
		r.Receipts = append(r.Receipts, receipt)
		r.TookEffect = true
	}
}

// Planned, Started, TookEffect and Healed count a result's steps.
func (r Result) Planned() int { return len(r.Steps) }

// Started counts the steps that took effect.
func (r Result) Started() int { return r.count(func(s StepResult) bool { return s.Started > 0 }) }

// TookEffect counts the steps with a receipt that proves it.
func (r Result) TookEffect() int { return r.count(func(s StepResult) bool { return s.TookEffect }) }

// Healed counts the steps that were healed, or were over at once.
func (r Result) Healed() int { return r.count(func(s StepResult) bool { return s.Healed }) }

func (r Result) count(is func(StepResult) bool) int {
	n := 0
	for _, s := range r.Steps {
		if is(s) {
			n++
		}
	}
	return n
}
