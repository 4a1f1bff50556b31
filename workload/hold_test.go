package workload_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"locktorture/workload"
	"locktorture/workload/history"
	"locktorture/workload/store"
)

// A client stopped between its check and its write writes when it goes on,
// although its lease has ended: the fence alone stands in the way.
func TestPausedClientWritesLate(t *testing.T) {
	for _, test := range []struct {
		policy store.Policy
		want   history.Kind
	}{{store.Fenced, history.Fail}, {store.Unfenced, history.OK}} {
		t.Run(string(test.policy), func(t *testing.T) {
			r := newRig(t, 2, func(r *rig) { r.policy = test.policy })
			watch, stopped, resume := r.stopBeforeWrite(0)
			cfg := load()
			cfg.Keys, cfg.TTL = 1, 300*time.Millisecond
			events := record(t, func(rec *history.Recorder) {
				runUntil(t, rec, workload.Run, cfg, r.clients, func(e *history.Event) bool {
					watch(e)
					if !closed(stopped) || e.Op != history.Write || e.Kind == history.Invoke {
						return false
					}
					if e.Owner == "b" && e.Kind == history.OK && !closed(resume) {
						close(resume)
					}
					return e.Owner == "a"
				})
			})
			late := lateWrite(events)
			if late == nil || late.Kind != test.want || !late.HasAll(history.HasSeq) {
				t.Fatalf("late write %+v, want kind %s", late, test.want)
			}
			heard := count(events, func(e *history.Event) bool {
				return e.Op == history.Lost && e.HasAll(history.HasBegan) && e.Began < late.Time
			})
			if heard == 0 {
				t.Error("the loss was not reported")
			}
		})
	}
}

// stopBeforeWrite stops a client once, at the gate between the first check
// after a grant and the write: the second gate from the grant on. Where the
// lease ends before the check, the next grant is tried.
func (r *rig) stopBeforeWrite(client int) (watch func(*history.Event), stopped, resume chan struct{}) {
	stopped, resume = make(chan struct{}), make(chan struct{})
	var gates atomic.Int32
	c := r.clients[client]
	c.Pause = func(ctx context.Context) error {
		if gates.Add(-1) != 0 || closed(stopped) {
			return nil
		}
		close(stopped)
		select {
		case <-resume:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return func(e *history.Event) {
		if e.Op == history.Acquire && e.Kind == history.OK && e.Owner == c.Name && !closed(stopped) {
			gates.Store(2)
		}
	}, stopped, resume
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// lateWrite finds the completion of the write that a invoked after its lease
// had ended.
func lateWrite(events []history.Event) *history.Event {
	var until time.Duration
	var invoked bool
	for i := range events {
		e := &events[i]
		switch {
		case e.Owner != "a":
		case e.Op == history.Acquire && e.Kind == history.OK:
			until = e.ValidUntil
		case e.Op == history.Write && e.Kind == history.Invoke:
			invoked = e.Time > until
		case e.Op == history.Write && invoked:
			return e
		}
	}
	return nil
}

// A client that checks stops when its lease has ended; one whose lock promises
// nothing cannot.
func TestLongHoldsEndWithTheLease(t *testing.T) {
	for _, promise := range []bool{true, false} {
		r := newRig(t, 1, func(r *rig) { r.promise = promise; r.policy = store.Unfenced })
		cfg := load()
		cfg.TTL, cfg.LongHold = 150*time.Millisecond, 1
		c := r.clients[0]
		connect := c.Connect
		c.Connect = func(ctx context.Context) (*workload.Conn, error) {
			conn, err := connect(ctx)
			conn.Locker = withoutRenewal{conn.Locker}
			return conn, err
		}
		tooLate := times(2, of(history.Release, history.Fail))
		events := record(t, func(rec *history.Recorder) {
			runUntil(t, rec, workload.Run, cfg, r.clients, tooLate)
		})
		second := count(events, func(e *history.Event) bool {
			return e.Op == history.Write && e.Kind == history.OK && !e.HasAll(history.HasBase)
		})
		if promise && second > 0 || !promise && second < 2 {
			t.Errorf("promise %v: %d second writes", promise, second)
		}
	}
}

func TestLongHoldsRenew(t *testing.T) {
	r := newRig(t, 1)
	cfg := load()
	cfg.TTL, cfg.LongHold = time.Second, 1
	renewal := func(e *history.Event) bool {
		return e.Op == history.Extend && e.Kind == history.OK && e.HasAll(history.HasBegan|history.HasEnded|history.HasValidUntil)
	}
	record(t, func(rec *history.Recorder) {
		runUntil(t, rec, workload.Run, cfg, r.clients, times(2, renewal))
	})
}

// Of those whose lease has run out before they were done some ask for an extension in the mixed load,
// and in no other. Who was told of the loss asks for none: leases that promise a deadline tell of it here.
func TestWhoseLeaseRanOutAsksForMore(t *testing.T) {
	for _, c := range []struct {
		mode    workload.Mode
		promise bool
		asks    bool
	}{{workload.ModeMixed, false, true}, {workload.ModeMixed, true, false}, {workload.ModeExclusive, false, false}} {
		r := newRig(t, 1, func(r *rig) { r.promise = c.promise; r.policy = store.Unfenced })
		cfg := load()
		cfg.TTL, cfg.Mode, cfg.Hold = 100*time.Millisecond, c.mode, workload.Fixed(130*time.Millisecond)
		until := of(history.Extend, history.Fail)
		if !c.asks {
			until = times(10, of(history.Release, history.Fail))
		}
		events := record(t, func(rec *history.Recorder) { runUntil(t, rec, workload.Run, cfg, r.clients, until) })
		if asked := count(events, of(history.Extend, history.Fail)) > 0; asked != c.asks {
			t.Errorf("%s, promise %v: extensions asked for %v, want %v", c.mode, c.promise, asked, c.asks)
		}
	}
}
