package child

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"locktorture/lockimpl"
)

// A Locker is one child. Its Acquire makes one try, its AcquireWait leaves the
// waiting to the library.
type Locker struct {
	*session
	cmd     Command
	log     *tail
	kin     *kin
	handles atomic.Uint64
	closing sync.Once
	closed  error
}

// start launches a child and sends it its nodes. A child that does not answer in time, or
// before ctx ends, is killed.
func start(ctx context.Context, c Command, k *kin, introduction request) (*Locker, error) {
	log := &tail{next: c.Log, hide: c.hide}
	c.Log = log
	p, err := launch(c)
	if err != nil {
		return nil, err
	}
	k.born(p.pid)
	l := &Locker{session: newSession(p, c.Grace, c.hide), cmd: c, log: log, kin: k}
	m, err := l.greet(ctx, introduction)
	if err == nil {
		err = l.learn(m)
	}
	if err != nil {
		_, _ = l.kill() // it may be gone
		err = errors.Join(err, l.Close())
		if said := l.Findings(); len(said) > 0 {
			err = fmt.Errorf("%w; it wrote %s", err, said[0])
		}
		if last := log.String(); last != "" {
			err = fmt.Errorf("%w; its log ends:\n%s", err, last)
		}
		return nil, err
	}
	return l, nil
}

// learn notes what the child says of itself.
func (l *Locker) learn(m *message) (err error) {
	l.caps = abilities(m.Caps)
	if err := checkAbilities(l.caps); err != nil {
		return fmt.Errorf("init_ok: %w", err)
	}
	if m.Keys != nil {
		if l.cmd.Keys, err = leaseKeys(*m.Keys); err != nil {
			return fmt.Errorf("init_ok: %w", err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trusted = m.Clock == "monotonic"
	return nil
}

// greet sends the child its nodes and reads its answer, within the time that a start may take.
func (l *Locker) greet(ctx context.Context, introduction request) (*message, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.cmd.Start, fmt.Errorf("%w within %v of its start", ErrSilent, l.cmd.Start))
	defer cancel()
	m, err := l.ask(ctx, call{what: "init", fields: introduction, budget: -1, urgent: true, prompt: true})
	if err == nil && m.T != "init_ok" {
		return nil, fmt.Errorf("init: %s %s", m.T, m.Text)
	}
	if !errors.Is(err, ErrGone) {
		return m, err
	}
	select { // its output may end a moment before the process, or long before
	case <-l.gone:
	case <-ctx.Done():
		return nil, fmt.Errorf("init: %w: it lives, with its input or its output closed", context.Cause(ctx))
	}
	if death := l.died(); death != nil {
		return nil, fmt.Errorf("%w: %w", err, death)
	}
	return nil, err
}

// Can reports whether the child has declared the ability.
func (l *Locker) Can(ability string) bool { return l.caps[ability] }

// LeaseKeys implements lockimpl.KeyLister.
func (l *Locker) LeaseKeys(key string) []string { return l.cmd.Keys(key) }

// Acquire makes one try.
func (l *Locker) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.acquire(ctx, key, ttl, request{"wait_ms": 0})
}

// AcquireWait implements lockimpl.WaitLocker.
func (l *Locker) AcquireWait(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	wait := int64(-1)
	if end, bounded := ctx.Deadline(); bounded {
		wait = max(time.Until(end).Milliseconds(), 0)
	}
	return l.acquire(ctx, key, ttl, request{"wait_ms": wait})
}

func (l *Locker) acquire(ctx context.Context, key string, ttl time.Duration, how request) (lockimpl.Lease, error) {
	lease := &lease{locker: l, handle: "h" + strconv.FormatUint(l.handles.Add(1), 10), key: key, lost: make(chan struct{}), released: make(chan struct{}), asked: micros()}
	fields := request{"h": lease.handle, "key": key, "ttl_ms": int64(0), "every_ms": l.cmd.Every.Milliseconds(), "mode": "x"}
	if l.caps["ttl"] && ttl > 0 {
		fields["ttl_ms"], lease.timed = ttl.Milliseconds(), true
		lease.asksFor(instant(lease.asked), ttl)
	}
	if l.caps["rw"] {
		fields["mode"] = "w"
	}
	maps.Copy(fields, how)
	lease.owner, _ = fields["owner"].(string)
	budget := time.Duration(-1)
	if wait, _ := fields["wait_ms"].(int64); wait >= 0 {
		budget = l.cmd.IO + time.Duration(wait)*time.Millisecond
	}
	m, err := l.ask(ctx, call{what: "acquire", fields: fields, budget: budget, lease: lease})
	if err != nil {
		return nil, err
	}
	return lease.acquireResult(m)
}

// ObserveWrites implements Observable.
func (l *Locker) ObserveWrites(o WriteObserver) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observer = o
}

// Stop implements Process.
func (l *Locker) Stop() (time.Time, error) { return l.stop() }

// Cont implements Process.
func (l *Locker) Cont() (time.Time, error) { return l.cont() }

// Kill implements Process.
func (l *Locker) Kill() (time.Time, error) {
	l.mu.Lock()
	held := slices.Collect(maps.Values(l.leases))
	l.mu.Unlock()
	for _, lease := range held {
		lease.stopRenewals(0)
	}
	return l.kill()
}

// Pid implements Process.
func (l *Locker) Pid() int { return l.pid }

// Died implements Process.
func (l *Locker) Died() *DeathError {
	death := l.died()
	if death != nil {
		death.Log = l.log.String()
	}
	return death
}

// closedWithin waits up to d for c to be closed and reports whether it was. One that is closed
// already has been, however late the clock is looked at.
func closedWithin(c <-chan struct{}, d time.Duration) bool {
	if d <= 0 { // of two that are ready, select draws one
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
	}
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TakesUntimed implements lockimpl.UntimedLocker: the child has declared both a watchdog and
// leases of a stated length.
func (l *Locker) TakesUntimed() bool { return l.caps["watchdog"] && l.caps["ttl"] }

// Extends implements lockimpl.ExtendLocker.
func (l *Locker) Extends() bool { return l.caps["extend"] }
