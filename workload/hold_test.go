package workload_test

import (
	"context"
	"sync"
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
			cfg.Keys, cfg.TTL, cfg.Duration = 1, 60*time.Millisecond, time.Minute
			ctx, cancel := context.WithCancel(t.Context())
			events := record(t, func(rec *history.Recorder) {
				rec.Attach(history.SinkFunc(func(e *history.Event) {
					watch(e)
					switch {
					case !closed(stopped) || e.Op != history.Write || e.Kind == history.Invoke:
					case e.Owner == "b" && e.Kind == history.OK && !closed(resume):
						close(resume)
					case e.Owner == "a":
						cancel()
					}
				}))
				if err := workload.Run(ctx, cfg, r.clients, rec); err != nil {
					t.Fatal(err)
				}
			})
			late := lateWrite(events)
			if late == nil || late.Kind != test.want || !late.HasAll(history.HasSeq) {
				t.Errorf("late write %+v, want kind %s", late, test.want)
			}
			if count(events, of(history.Lost, history.OK)) == 0 {
				t.Error("the loss was not reported")
			}
		})
	}
}

// stopBeforeWrite stops a client once, at the gate between the first check
// after its first grant and the write: the third gate from the grant on.
func (r *rig) stopBeforeWrite(client int) (watch func(*history.Event), stopped, resume chan struct{}) {
	stopped, resume = make(chan struct{}), make(chan struct{})
	var gates atomic.Int32
	c := r.clients[client]
	c.Pause = func(ctx context.Context) error {
		if gates.Add(-1) != 0 {
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
	var once sync.Once
	return func(e *history.Event) {
		if e.Op == history.Acquire && e.Kind == history.OK && e.Owner == c.Name {
			once.Do(func() { gates.Store(3) })
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

// lateWrite finds the completion of the write that a invoked after its first
// lease had ended.
func lateWrite(events []history.Event) *history.Event {
	var until time.Duration
	var invoked bool
	for i := range events {
		e := &events[i]
		switch {
		case e.Owner != "a":
		case e.Op == history.Acquire && e.Kind == history.OK && until == 0:
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
		cfg.TTL, cfg.LongHold, cfg.Duration = 40*time.Millisecond, 1, 300*time.Millisecond
		for _, c := range r.clients { // without renewal
			connect := c.Connect
			c.Connect = func(ctx context.Context) (*workload.Conn, error) {
				conn, err := connect(ctx)
				conn.Locker = withoutRenewal{conn.Locker}
				return conn, err
			}
		}
		events := record(t, func(rec *history.Recorder) {
			if err := workload.Run(t.Context(), cfg, r.clients, rec); err != nil {
				t.Fatal(err)
			}
		})
		late := count(events, func(e *history.Event) bool { return e.Op == history.Release && e.Kind == history.Fail })
		second := count(events, func(e *history.Event) bool {
			return e.Op == history.Write && e.Kind == history.OK && !e.HasAll(history.HasBase)
		})
		if late == 0 {
			t.Errorf("promise %v: no lease ran out", promise)
		}
		if promise && second > 1 || !promise && second == 0 { // the phase's end cuts one hold short
			t.Errorf("promise %v: %d second writes", promise, second)
		}
	}
}

func TestLongHoldsRenew(t *testing.T) {
	r := newRig(t, 1)
	cfg := load()
	cfg.TTL, cfg.LongHold = 100*time.Millisecond, 1
	events := record(t, func(rec *history.Recorder) {
		if err := workload.Run(t.Context(), cfg, r.clients, rec); err != nil {
			t.Fatal(err)
		}
	})
	renewals := count(events, func(e *history.Event) bool {
		return e.Op == history.Extend && e.Kind == history.OK && e.HasAll(history.HasBegan|history.HasEnded|history.HasValidUntil)
	})
	if renewals < 2 {
		t.Errorf("%d renewals", renewals)
	}
}
