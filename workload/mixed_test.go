package workload_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/workload"
	"locktorture/workload/history"
)

// A mixed load uses every ability that the lock has, on one and the same run.
func TestMixedLoadUsesWhatTheLockCan(t *testing.T) {
	asked := func(how string, mode history.Mode) func(*history.Event) bool {
		return func(e *history.Event) bool {
			return e.Op == history.Acquire && e.Kind == history.Invoke && e.Note == how && e.Mode == mode
		}
	}
	events := runMode(t, func(c *workload.Config) { c.Mode, c.Keys, c.TTL = workload.ModeMixed, 8, 200*time.Millisecond }, all(
		times(3, asked("", history.Exclusive)), times(3, asked("", history.Shared)), times(3, asked(history.AskReentry, history.Exclusive)),
		times(3, asked(history.AskFair, history.Exclusive)), times(3, asked(history.AskMulti, history.Exclusive)), times(10, of(history.Release, history.OK)),
	))
	for _, e := range events {
		if e.Op == history.Acquire && e.Kind != history.Invoke && e.Note != "" {
			t.Fatalf("a completion says how was asked: %+v", e)
		}
	}
}

// A lock that can do nothing but Acquire is asked for nothing else.
func TestMixedLoadOfALockThatCanDoNothingElse(t *testing.T) {
	r := newRig(t, 4)
	cfg := load()
	cfg.Mode, cfg.Keys, cfg.TTL = workload.ModeMixed, 4, 200*time.Millisecond
	events := record(t, func(rec *history.Recorder) {
		runUntil(t, rec, workload.Run, cfg, r.clients, times(20, of(history.Release, history.OK)))
	})
	for _, e := range events {
		if e.Op == history.Acquire && (e.Note != "" || e.Mode != history.Exclusive) {
			t.Fatalf("asked for more than it can: %+v", e)
		}
	}
}

// An untimedLock renews the leases that are asked for without a length, and extends none.
type untimedLock struct {
	*testLock
	ttl            time.Duration
	timed, untimed *atomic.Int64
}

func (untimedLock) TakesUntimed() bool { return true }
func (untimedLock) Extends() bool      { return false }

func (l untimedLock) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	if ttl > 0 {
		l.timed.Add(1)
	} else {
		l.untimed.Add(1)
	}
	return l.testLock.Acquire(ctx, key, l.ttl)
}

// Of a lock that renews leases of no stated length, those that are held beyond the TTL are asked for
// without one; where leases cannot be extended, nobody extends one by hand.
func TestMixedLoadAsksForLeasesOfNoStatedLength(t *testing.T) {
	var timed, untimed atomic.Int64
	cfg := load()
	cfg.Mode, cfg.Keys, cfg.TTL = workload.ModeMixed, 5, 200*time.Millisecond
	r := newRig(t, 4)
	r.lock = func(string) lockimpl.Locker {
		lock := &testLock{promise: true, rdb: redis.NewClient(&redis.Options{Addr: r.locks.Addr(), DisableIdentity: true})}
		t.Cleanup(func() { lock.Close() })
		return untimedLock{lock, cfg.TTL, &timed, &untimed}
	}
	for _, e := range record(t, func(rec *history.Recorder) {
		runUntil(t, rec, workload.Run, cfg, r.clients, func(*history.Event) bool { return timed.Load() > 20 && untimed.Load() > 3 })
	}) {
		if e.Op == history.Extend && e.Kind == history.Invoke {
			t.Fatalf("extended by hand: %+v", e)
		}
	}
}

// Leases are extended by hand at any moment, and some who do so when little is left rely on it: they
// write when the lease as it was before would be over.
func TestMixedLoadReliesOnLateExtensions(t *testing.T) {
	const ttl = 200 * time.Millisecond
	r := newRig(t, 4, func(r *rig) { r.promise = true })
	cfg := load()
	cfg.Mode, cfg.Keys, cfg.TTL = workload.ModeMixed, 5, ttl
	due, asked, old := map[int]time.Duration{}, map[int]time.Duration{}, map[int]time.Duration{} // by process
	early, relied := false, false
	record(t, func(rec *history.Recorder) {
		runUntil(t, rec, workload.Run, cfg, r.clients, func(e *history.Event) bool {
			switch p := e.Process; {
			case e.Op == history.Extend && e.Kind == history.Invoke:
				asked[p] = e.Time
			case e.Op == history.Extend && e.Kind == history.OK && due[p]-asked[p] < ttl/2:
				old[p], due[p] = due[p], e.ValidUntil
			case e.Op == history.Extend && e.Kind == history.OK:
				early, due[p] = early || due[p]-asked[p] > ttl*7/10, e.ValidUntil
			case e.Op == history.Acquire && e.Kind == history.OK:
				due[p] = e.ValidUntil
			case e.Op == history.Write && e.Kind == history.Invoke && old[p] > 0:
				relied = relied || e.Time > old[p]
			case e.Op == history.Release:
				delete(old, p)
			}
			return early && relied
		})
	})
}
