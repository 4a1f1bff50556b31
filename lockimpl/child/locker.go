package child

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"locktorture/lockimpl"
)

// A Locker is one child. Its Acquire makes one try, its AcquireWait leaves the
// waiting to the library.
type Locker struct {
	*session
	cmd     Command
	log     *tail
	handles atomic.Uint64
	closing sync.Once
	closed  error
}

// start launches a child and introduces it to its nodes.
func start(c Command, introduction request) (*Locker, error) {
	log := &tail{next: c.Log}
	c.Log = log
	p, err := launch(c)
	if err != nil {
		return nil, err
	}
	l := &Locker{session: newSession(p, c.Grace), cmd: c, log: log}
	ctx, cancel := context.WithTimeout(context.Background(), c.Start)
	defer cancel()
	m, err := l.ask(ctx, call{what: "init", fields: introduction, budget: c.Start, urgent: true})
	if err == nil && m.T != "init_ok" {
		err = fmt.Errorf("init: %s %s", m.T, m.Text)
	}
	if err != nil {
		err = errors.Join(l.orDeath(err), l.Close())
		if last := log.String(); last != "" {
			err = fmt.Errorf("%w; its log ends:\n%s", err, last)
		}
		return nil, err
	}
	l.caps = abilities(m.Caps)
	l.mu.Lock()
	l.trusted = m.Clock == "monotonic"
	l.mu.Unlock()
	return l, nil
}

// orDeath adds to err how the process ended, if it is gone and nobody had told it to: its
// output may end a moment before the kernel says how.
func (l *Locker) orDeath(err error) error {
	if !errors.Is(err, ErrGone) || !ended(l.gone, l.grace) {
		return err
	}
	if death := l.died(); death != nil {
		return fmt.Errorf("%w: %w", err, death)
	}
	return err
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
	lease := &lease{locker: l, handle: "h" + strconv.FormatUint(l.handles.Add(1), 10), key: key, lost: make(chan struct{})}
	fields := request{"h": lease.handle, "key": key, "ttl_ms": int64(0), "every_ms": l.cmd.Every.Milliseconds(), "mode": "x"}
	if l.caps["ttl"] {
		fields["ttl_ms"] = ttl.Milliseconds()
	}
	if l.caps["rw"] {
		fields["mode"] = "w"
	}
	maps.Copy(fields, how)
	budget := time.Duration(-1)
	if wait, _ := fields["wait_ms"].(int64); wait >= 0 {
		budget = l.cmd.IO + time.Duration(wait)*time.Millisecond
	}
	m, err := l.ask(ctx, call{what: "acquire", fields: fields, budget: budget, lease: lease})
	if err != nil {
		return nil, err
	}
	return lease.taken(m)
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
func (l *Locker) Kill() (time.Time, error) { return l.kill() }

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

// Findings implements Process.
func (l *Locker) Findings() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.findings...)
}

// Close has the child leave: it is told to, then its input ends, then it is
// killed, which is an error.
func (l *Locker) Close() error {
	l.closing.Do(func() { l.closed = l.end() })
	return l.closed
}

func (l *Locker) end() error {
	l.expectEnd()
	_, _ = l.cont() // it may be gone
	l.tellUnanswered()
	ctx, cancel := context.WithTimeout(context.Background(), l.grace)
	defer cancel()
	_, _ = l.ask(ctx, call{what: "quit", budget: -1, urgent: true}) // whether it says goodbye does not matter
	err := l.stdin.Close()
	if !ended(l.gone, l.cmd.Leave) {
		l.find("it did not leave although told to and at the end of its input")
		err = errors.Join(err, fmt.Errorf("process %d did not leave and was killed", l.pid))
		_, _ = l.signal(syscall.SIGKILL)
	}
	l.process.wg.Wait()
	ended(l.drained, l.grace) // a process that it left behind may hold its output open
	err = errors.Join(err, l.stdout.Close())
	l.session.wg.Wait()
	return err
}

// tellUnanswered makes a finding of every request that a living child has left
// unanswered beyond its budget.
func (l *Locker) tellUnanswered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.open {
		if l.left(x) <= 0 && !ended(l.gone, 0) {
			l.tellLate(x, "was never answered")
		}
	}
}

// ended waits up to d for c to be closed and reports whether it was. One that is closed
// already has been, however late the clock is looked at.
func ended(c <-chan struct{}, d time.Duration) bool {
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

// Extends reports whether the child extends leases, by its own word.
func (l *Locker) Extends() bool { return l.caps["extend"] }
