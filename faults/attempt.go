package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"locktorture/faults/internal/phrase"
	"locktorture/faults/internal/wait"
	"locktorture/faults/watch"
	"locktorture/workload/history"
)

// looks is how often, at least, a fault that has hurt nothing is looked at
// again, and firstLook how soon.
const (
	looks     = 40
	firstLook = time.Millisecond
)

// An attempt is one injection and its heal.
type attempt struct {
	n     *nemesis
	step  Step
	scope *Scope

	mu     sync.Mutex
	before *attempt // that hurt nobody, in whose place this one comes; nil: none
	first  int      // index of the fault's invocation

	begun   bool // the invocation is recorded
	closed  bool // Inject has answered, or was given up
	ownHeal bool // the injection has a heal of its own, and says itself what is broken
	open    int  // index of the invocation that is recorded and not completed
	target  *history.Target
	ops     *Operations // that the fault meets
	owed    string      // the injection's receipt, while it proves nothing yet
}

func (n *nemesis) attempt(ctx context.Context, s Step, occasion Occasion) *attempt {
	a := &attempt{n: n, step: s}
	a.scope = &Scope{Target: n.t, Occasion: occasion, run: n.run, now: n.now, over: ctx.Done(), begin: a.begin}
	return a
}

// inject calls the fault's Inject. When inject returns, Inject has returned or was given up,
// and cannot begin the fault any more.
func (a *attempt) inject(ctx context.Context, rng *rand.Rand) (Injection, error) {
	inj, err := guarded(ctx, injectLimit, func(ctx context.Context) (Injection, error) {
		return a.step.Fault.Inject(ctx, a.scope, rng)
	})
	if a.ownHeal = err == nil && inj.Heal != nil; !a.ownHeal {
		inj.Heal = a.scope.undo.heal
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
	a.ops = a.scope.Operations(hit)
	a.invoke(targetOf(hit), hit.Instant, hit.Since)
}

func (a *attempt) invoke(target *history.Target, instant bool, since time.Duration) {
	a.begun, a.target = true, target
	e := a.event(history.Fault, history.Invoke)
	e.Instant = instant
	if !instant && a.step.For > 0 {
		e.Note = "for " + phrase.Round(a.step.For).String()
		if a.step.Until != "" {
			e.Note += ", or until " + string(a.step.Until)
		}
	}
	if since > 0 {
		e.Began, e.Has = since, history.HasBegan
	}
	if a.before != nil {
		e.Of, e.Has = a.before.first, e.Has|history.HasOf
	}
	a.open = a.n.rec.Append(e)
	a.first = a.open
}

// failed undoes what a failed injection has done.
func (a *attempt) failed(ctx context.Context, res *StepResult, why error) error {
	defer a.scope.undo.leave()
	_, undone := a.repair(ctx, a.scope.undo.heal)
	if !a.begun {
		a.invoke(targetOf(a.step), false, 0)
	}
	e := a.event(history.Fault, history.Fail)
	if undone != nil {
		e.Kind = history.Info
	}
	e.Err = history.OneLine(why.Error())
	a.n.rec.Append(e)
	res.Err, res.Target = e.Err, a.target
	if undone != nil {
		res.Err = phrase.Join(e.Err, history.OneLine(undone.Error()))
	}
	if undone == nil && (errors.Is(why, ErrMissed) || errors.Is(why, context.Canceled) && ctx.Err() != nil) {
		return nil
	}
	return fmt.Errorf("inject %s: %w", res.Fault, errors.Join(why, undone))
}

// started notes an injection that did not call Begin.
func (a *attempt) started(inj Injection) {
	if a.begun {
		return
	}
	hit, _ := inj.Target.(Hit)
	a.ops = a.scope.Operations(hit)
	a.invoke(targetOf(inj.Target), inj.Instant, 0)
}

// inForce records that the fault is in force.
func (a *attempt) inForce(res *StepResult, inj Injection) {
	a.started(inj)
	e := a.event(history.Fault, history.OK)
	e.Instant, e.Receipt, e.Note = inj.Instant, inj.Receipt, inj.Note
	if inj.Receipt == "" || !a.tookEffect(inj) {
		a.owed = inj.Receipt
		e.Kind, e.Receipt, e.Note = history.Info, "", phrase.Join(inj.Note, inj.Receipt) // the heal may tell
	}
	if inj.Instant && e.Receipt == "" {
		e.Err = unproved
	}
	a.n.rec.Append(e)
	res.Started, res.Target = a.n.rec.Since(time.Now()), a.target
	res.add(e.Receipt)
	res.Healed = inj.Instant
	a.n.run.bind(a.scope.binds)
}

// unproved is the text for a fault without a receipt.
const unproved = "nothing proves that it took effect: no operation of a client, or nothing that this fault changed"

// tookEffect reports whether the fault has affected anything so far, while a client had an
// operation under it.
func (a *attempt) tookEffect(inj Injection) bool {
	if inj.TookEffect != nil && !inj.TookEffect() || !a.ops.Met() {
		return false
	}
	return len(a.scope.proofs) == 0 || slices.ContainsFunc(a.scope.proofs, func(proved func() bool) bool { return proved() })
}

// last keeps the fault in force for its time, and longer while it has affected nothing: its
// victim may be idle, or be stopped by another fault. At the moment that ends it, it is over.
func (a *attempt) last(ctx context.Context, inj Injection) {
	ended := false
	if a.step.Until == "" {
		wait.For(ctx, a.step.For)
	} else {
		ended = a.ends(ctx)
	}
	if !ended && ctx.Err() == nil {
		a.awaitImpact(ctx, inj)
	}
}

// ends waits for the moment that ends the step, and reports whether it came within the step's
// length. A reader beside another one is at work whatever befalls a victim that may be that other one, and does
// not count. Of a lock in this process no reader is seen at work, since what it marks is no write.
func (a *attempt) ends(ctx context.Context) bool {
	since := a.n.now()
	came, cancel := a.n.t.Watch.Subscribe(func(o watch.Occasion) bool {
		beside := o.Moment == watch.InSection && o.Shared
		return o.Moment == a.step.Until && !beside && o.Key == a.scope.Occasion.Key && o.Time >= since && (o.Granted == 0 || o.Granted >= since) && !a.strikes(a.n.t.ClientName(o.Owner))
	})
	defer cancel()
	full := time.NewTimer(a.step.For)
	defer full.Stop()
	select {
	case <-came:
		wait.For(ctx, a.step.Lag)
		return true
	case <-full.C:
	case <-ctx.Done():
	}
	return false
}

// strikes reports whether a client is the attempt's victim, or its moment is, where the fault names no
// client.
func (a *attempt) strikes(client string) bool {
	if a.target != nil && len(a.target.Clients) > 0 {
		return slices.Contains(a.target.Clients, client)
	}
	return client == a.n.t.ClientName(a.scope.Occasion.Owner)
}

// awaitImpact waits until the fault has affected something, by two TTLs or the step's own
// length at most. It checks less and less often.
func (a *attempt) awaitImpact(ctx context.Context, inj Injection) {
	more := a.patience()
	var waited time.Duration
	for pause := firstLook; waited < more && !a.tookEffect(inj); pause = min(2*pause, more/looks, more-waited) {
		if !wait.For(ctx, pause) {
			return
		}
		waited += pause
	}
}

// patience is how long to wait for an impact: no longer than the load lasts, and where
// another victim may be tried, no longer than half the time that is left to begin with it.
func (a *attempt) patience() time.Duration {
	more := max(a.step.For, 2*a.n.t.TTL)
	if a.n.t.Load == 0 {
		return more
	}
	if left := time.Until(a.n.latest(a.step)); left > 0 && a.oneOfSeveral() {
		return min(more, left/2)
	}
	return max(0, min(more, time.Until(a.n.began.Add(a.n.t.Load))))
}

// over records an instant fault, once it has met an operation of a client, or once none has
// come for long enough.
func (a *attempt) over(ctx context.Context, res *StepResult, inj Injection) error {
	defer a.scope.undo.leave()
	a.started(inj)
	a.awaitImpact(ctx, inj)
	met := a.tookEffect(inj)
	receipt, err := a.repair(ctx, a.scope.undo.heal)
	inj.TookEffect = func() bool { return met }
	inj.Receipt = phrase.Join(inj.Receipt, receipt)
	a.inForce(res, inj)
	return err
}

func (a *attempt) heal(ctx context.Context, res *StepResult, inj Injection) error {
	met, tookEffect := a.ops.Met(), a.tookEffect(inj)
	a.open = a.n.rec.Append(a.event(history.Heal, history.Invoke))
	receipt, err := a.repair(ctx, inj.Heal)
	e := a.event(history.Heal, history.OK)
	if receipt = phrase.Join(a.owed, receipt); tookEffect || met && inj.TookEffect != nil && inj.TookEffect() { // what it did last shows late
		e.Receipt = receipt
	} else {
		e.Note = receipt
	}
	res.add(e.Receipt)
	switch {
	case err != nil:
		e.Kind, e.Err = history.Fail, history.OneLine(err.Error())
	case !res.TookEffect:
		e.Kind, e.Err = history.Info, unproved
	}
	a.n.rec.Append(e)
	res.Ended, res.Healed = a.n.rec.Since(time.Now()), err == nil
	if err == nil || !a.ownHeal {
		a.scope.undo.leave()
	}
	if err != nil {
		res.Err = history.OneLine(err.Error())
		return fmt.Errorf("heal %s: %w", res.Fault, err)
	}
	return nil
}

// repair heals on a context that ctx cannot cancel, under a watchdog, and repeats what failed.
func (a *attempt) repair(ctx context.Context, heal func(context.Context) (string, error)) (string, error) {
	limit := healLimit + a.n.t.TTL
	var receipts []string
	var err error
	for try := range healTries {
		if try > 0 {
			wait.For(context.WithoutCancel(ctx), healRetry)
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
		err = errors.Join(err, a.scope.undo.outstanding(err))
	}
	return strings.Join(receipts, "; "), err
}

// event is an event of the attempt; a completion names its invocation.
func (a *attempt) event(op history.Op, kind history.Kind) history.Event {
	e := history.Event{
		Process: history.Nemesis, Op: op, Kind: kind, Fault: a.step.Fault.Name(), Target: a.target,
	}
	if kind != history.Invoke {
		e.Of, e.Has = a.open, history.HasOf
	}
	return e
}

// targetOf turns a target into an event's, which is an object or a text.
func targetOf(target any) *history.Target {
	if target == nil {
		return nil
	}
	text, err := json.Marshal(target)
	if err != nil {
		return history.NamedTarget(fmt.Sprint(target))
	}
	t, err := history.ParseTarget(text)
	if err != nil {
		return history.NamedTarget(string(text))
	}
	return t
}
