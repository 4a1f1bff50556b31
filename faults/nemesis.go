package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"locktorture/faults/internal/wait"
	"locktorture/faults/watch"
	"locktorture/workload/history"
)

// Bounds on what the fault layer may take. Beyond them it hangs, which is a
// failure of the harness.
const (
	injectLimit = 20 * time.Second
	healLimit   = 20 * time.Second // plus the TTL, which a late restart waits for
	hangGrace   = 2 * time.Second  // for a call to notice that its context has ended
	missedRetry = 5 * time.Millisecond
	healRetry   = 200 * time.Millisecond
	healTries   = 3
)

// errNever ends a step whose moment did not come.
var errNever = errors.New("moment never came")

// nemesis is one run of a schedule.
type nemesis struct {
	t     *Target
	run   *run // what the steps share
	rec   *history.Recorder
	began time.Time
}

// Run follows the schedule until every step is done, or until ctx ends; then
// what is in force is healed at once, and steps whose moment has not come are
// recorded as failed. Every fault is healed on the way out, on a context that
// ctx cannot cancel. Steps overlap as their times say, and each draws from a
// stream of its own, so that one step's draws never shift another's.
//
// The error speaks of the harness alone: an injection or a heal that failed,
// hung or panicked. It names what is still broken and how to mend it by hand.
// Every step has a result, also then.
func Run(ctx context.Context, plan Schedule, t *Target, rec *history.Recorder, rng *rand.Rand) (Result, error) {
	shared := *t
	if shared.Watch == nil {
		shared.Watch = watch.New()
		rec.Attach(shared.Watch)
	}
	n := &nemesis{t: &shared, run: newRun(&shared), rec: rec, began: time.Now()}
	results := make([]StepResult, len(plan))
	errs := make([]error, len(plan))
	var wg sync.WaitGroup
	for i, s := range plan {
		stream := rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
		wg.Go(func() { results[i], errs[i] = n.step(ctx, s, stream) })
	}
	wg.Wait()
	return Result{Steps: results}, errors.Join(errs...)
}

// step waits for the step's moment, injects, waits again, and heals. An
// attempt that found nobody to hit waits for the next moment.
func (n *nemesis) step(ctx context.Context, s Step, rng *rand.Rand) (StepResult, error) {
	res := StepResult{Fault: s.Fault.Name(), When: s.When, For: s.For}
	waiting, cancel := ctx, context.CancelFunc(func() {})
	if s.When.Within > 0 {
		waiting, cancel = context.WithDeadline(ctx, n.patience(s))
	}
	defer cancel()
	var missed error
	var before *attempt
	var first time.Time // when the step's moment came first
	for tries := 1; ; {
		occasion, err := n.await(waiting, s)
		if err != nil && s.When.Else != "" && waiting.Err() != nil && ctx.Err() == nil {
			s.When = s.When.turn()
			waiting = ctx
			continue
		}
		if err != nil && before != nil {
			return res, unless(waiting, err)
		}
		if err != nil {
			broken := unless(waiting, err)
			n.never(&res, s, cmp.Or(broken, errors.Join(errNever, missed)))
			return res, broken
		}
		if first.IsZero() {
			first = time.Now()
		}
		a := n.attempt(ctx, s, occasion)
		a.before, a.scope.sought = before, n.sought(s, first)
		inj, err := a.inject(ctx, rng)
		occasion.release()
		if errors.Is(err, ErrMissed) && !a.begun {
			if _, broken := a.repair(ctx, a.scope.undo.heal); broken != nil {
				return res, a.failed(ctx, &res, broken)
			}
			a.scope.undo.leave()
			missed = err
			wait.For(waiting, missedRetry)
			continue
		}
		if err != nil {
			return res, a.failed(ctx, &res, err)
		}
		if inj.Instant {
			return res, a.over(ctx, &res, inj)
		}
		a.inForce(&res, inj)
		a.last(ctx, inj)
		err = a.heal(ctx, &res, inj)
		if err != nil || tries == maxTries || !a.deservesAnother(res) || ctx.Err() != nil {
			return res, err
		}
		tries++
		before, waiting, first = a, ctx, time.Time{}
		if n.t.Load > 0 {
			var end context.CancelFunc
			waiting, end = context.WithDeadline(ctx, n.latest(s))
			defer end()
		}
		if s.When.After, s.When.Within = 0, 0; s.When.Else != "" {
			s.When = s.When.turn()
		}
	}
}

// sought is how long a step has looked for a victim, since its moment came first. When little time is left to
// begin, it has looked for long enough, and takes whom it meets.
func (n *nemesis) sought(s Step, first time.Time) time.Duration {
	if n.t.Load > 0 && time.Until(n.latest(s)) < n.t.TTL/4 {
		return math.MaxInt64
	}
	return time.Since(first)
}

// maxTries is how often a step tries another victim when nothing proves that the fault affected
// the one before.
const maxTries = 3

// deservesAnother reports whether a step whose fault was healed should try another victim: it
// affected one client of several, no other step waits for it, and nothing proves that it took
// effect.
func (a *attempt) deservesAnother(res StepResult) bool {
	return !res.TookEffect && a.oneOfSeveral()
}

// oneOfSeveral reports whether the attempt is at one client of several, for which no
// other step waits.
func (a *attempt) oneOfSeveral() bool {
	return len(a.scope.binds) == 0 && len(a.n.t.Clients) > 1 && a.target != nil && len(a.target.Clients) == 1
}

// patience is until when a step waits for its moment. A step with another moment to turn to
// waits only while there is time left for that one, and not before it is due.
func (n *nemesis) patience(s Step) time.Time {
	end := s.When.After + s.When.Within
	if s.When.Else != "" && n.t.Load > 0 {
		end = min(end, max(n.t.Load-s.For-n.t.TTL/2, s.When.After))
	}
	return n.began.Add(end)
}

// latest is when a step may begin, at the latest, to be over before the load is.
func (n *nemesis) latest(s Step) time.Time { return n.began.Add(n.t.Load - s.For) }

// unless returns err, or nil where err says only that ctx has ended.
func unless(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// never records a step that did not happen.
func (n *nemesis) never(res *StepResult, s Step, why error) {
	res.Err = history.OneLine(why.Error())
	e := history.Event{Process: history.Nemesis, Op: history.Fault, Fault: res.Fault, Target: targetOf(s)}
	e.Kind = history.Invoke
	e.Of = n.rec.Append(e)
	e.Kind, e.Err, e.Has = history.Fail, res.Err, history.HasOf
	n.rec.Append(e)
}

// guarded runs f within limit, turns a panic into an error, and gives up on an
// f that does not return.
func guarded[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.err = fmt.Errorf("panicked: %v\n%s", p, debug.Stack())
			}
			done <- a
		}()
		a.v, a.err = f(ctx)
	}()
	patience := time.NewTimer(limit + hangGrace)
	defer patience.Stop()
	select {
	case a := <-done:
		return a.v, a.err
	case <-patience.C:
		var zero T
		return zero, fmt.Errorf("hung for %v", limit+hangGrace)
	}
}
