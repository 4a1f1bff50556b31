package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"locktorture/workload/history"
)

// looks is how often a fault that has hurt nothing is looked at again.
const looks = 40

// An attempt is one injection and its heal.
type attempt struct {
	n    *nemesis
	step Step
	t    *Target // a copy for this injection

	mu     sync.Mutex
	begun  bool // the invocation is recorded
	closed bool // Inject has answered, or was given up
	target json.RawMessage
}

func (n *nemesis) attempt(ctx context.Context, s Step, occasion Occasion) *attempt {
	a := &attempt{n: n, step: s}
	t := *n.t
	t.Occasion, t.undo, t.binds, t.begin, t.now, t.over = occasion, &undo{}, nil, a.begin, n.now, ctx.Done()
	a.t = &t
	return a
}

// inject calls the fault. When it returns, Inject has answered or was given
// up, and cannot begin any more.
func (a *attempt) inject(ctx context.Context, rng *rand.Rand) (Injection, error) {
	inj, err := guarded(ctx, injectLimit, func(ctx context.Context) (Injection, error) {
		return a.step.Fault.Inject(ctx, a.t, rng)
	})
	if err == nil && inj.Heal == nil {
		inj.Heal = a.t.undo.heal
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	return inj, err
}

func (a *attempt) begin(hit Hit) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.begun || a.closed {
		return
	}
	a.invoke(marshal(hit), hit.Instant, hit.Since)
}

func (a *attempt) invoke(target json.RawMessage, instant bool, since time.Duration) {
	a.begun, a.target = true, target
	e := a.event(history.Fault, history.Invoke)
	e.Instant = instant
	if since > 0 {
		e.Began, e.Has = since, history.HasBegan
	}
	a.n.rec.Append(e)
}

// failed undoes what an injection did before it failed.
func (a *attempt) failed(ctx context.Context, res *StepResult, why error) error {
	_, undone := a.repair(ctx, a.t.undo.heal)
	if !a.begun {
		a.invoke(marshal(a.step), false, 0)
	}
	e := a.event(history.Fault, history.Fail)
	if undone != nil {
		e.Kind = history.Info
	}
	e.Err = oneLine(why)
	a.n.rec.Append(e)
	res.Err, res.Target = oneLine(errors.Join(why, undone)), a.target
	if undone == nil && (errors.Is(why, ErrMissed) || errors.Is(why, context.Canceled) && ctx.Err() != nil) {
		return nil
	}
	return fmt.Errorf("inject %s: %w", res.Fault, errors.Join(why, undone))
}

// inForce records that the fault is in force.
func (a *attempt) inForce(res *StepResult, inj Injection) {
	if !a.begun {
		a.invoke(marshal(inj.Target), inj.Instant, 0)
	}
	e := a.event(history.Fault, history.OK)
	e.Instant, e.Receipt, e.Note = inj.Instant, inj.Receipt, inj.Note
	if inj.Receipt == "" {
		e.Kind = history.Info // the heal may tell
	}
	a.n.rec.Append(e)
	res.Started, res.Target = a.n.rec.Since(time.Now()), a.target
	res.add(inj.Receipt)
	res.Healed = inj.Instant
	a.n.t.run.bind(a.t.binds)
}

// last keeps the fault in force for its time, and longer while it has hurt
// nothing: its victim may be at rest, or stand still under another fault.
func (a *attempt) last(ctx context.Context, inj Injection) {
	if !sleep(ctx, a.step.For) || inj.Bitten == nil {
		return
	}
	more := max(a.step.For, 2*a.t.TTL)
	for range looks {
		if inj.Bitten() || !sleep(ctx, more/looks) {
			return
		}
	}
}

func (a *attempt) heal(ctx context.Context, res *StepResult, inj Injection) error {
	a.n.rec.Append(a.event(history.Heal, history.Invoke))
	receipt, err := a.repair(ctx, inj.Heal)
	res.add(receipt)
	e := a.event(history.Heal, history.OK)
	e.Receipt = receipt
	switch {
	case err != nil:
		e.Kind, e.Err = history.Fail, oneLine(err)
	case !res.Bit:
		e.Kind, e.Err = history.Info, "nothing proves that it bit"
	}
	a.n.rec.Append(e)
	res.Ended, res.Healed = a.n.rec.Since(time.Now()), err == nil
	if err != nil {
		res.Err = oneLine(err)
		return fmt.Errorf("heal %s: %w", res.Fault, err)
	}
	return nil
}

// repair heals on a context that ctx cannot cancel, under a watchdog, trying
// again what failed.
func (a *attempt) repair(ctx context.Context, heal func(context.Context) (string, error)) (string, error) {
	limit := healLimit + a.t.TTL
	var receipts []string
	var err error
	for try := range healTries {
		if try > 0 {
			sleep(context.WithoutCancel(ctx), healRetry)
		}
		var receipt string
		receipt, err = guarded(context.WithoutCancel(ctx), limit, heal)
		if receipt != "" {
			receipts = append(receipts, receipt)
		}
		var broken *BrokenError
		if err == nil || !errors.As(err, &broken) {
			break
		}
	}
	var broken *BrokenError
	if err != nil && !errors.As(err, &broken) {
		err = errors.Join(err, a.t.undo.outstanding(err))
	}
	return strings.Join(receipts, "; "), err
}

func (a *attempt) event(op history.Op, kind history.Kind) history.Event {
	return history.Event{
		Process: history.Nemesis, Op: op, Kind: kind, Fault: a.step.Fault.Name(), Target: a.target,
	}
}

// marshal turns a target into an event's, which is an object or a text.
func marshal(target any) json.RawMessage {
	if target == nil {
		return nil
	}
	text, err := json.Marshal(target)
	if err != nil {
		text, _ = json.Marshal(fmt.Sprint(target))
	}
	return text
}

func oneLine(err error) string {
	text := err.Error()
	if i := strings.Index(text, "\ngoroutine "); i >= 0 { // a panic's stack goes to the caller only
		text = text[:i]
	}
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), "; ")
}
