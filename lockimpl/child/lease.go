package child

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"locktorture/lockimpl"
)

// A lease is what a child holds under a handle.
type lease struct {
	locker      *Locker
	handle, key string
	lost        chan struct{}
	released    chan struct{} // closed when its release is asked for
	asked       int64         // when it was asked for, in microseconds of the machine's clock
	granted     time.Time     // when the child's answer was read
	timed       bool          // it was asked for with a length
	owner       string        // whose hold it is, of a lock that can be re-entered; "" is not told
	disowned    bool          // nobody holds by it: it was granted after its caller had given up, or another hold of its owner's turned out to be lost

	mu           sync.Mutex
	fence        uint64
	until        time.Time
	lasts        time.Time // until when it lasts, as promised or as was asked for; zero: as long as the library makes it
	began, ended time.Time
	told         bool      // lost is closed
	over         bool      // released is closed: no renewal counts any more
	presumed     time.Time // until when the last assumed renewal lasts
	observe      func(lockimpl.Renewal)
	renewals     []lockimpl.Renewal // told before anybody observed
}

type (
	// A losable lease is one whose library tells of a loss.
	losable struct{ *lease }

	losableRenewing struct {
		losable
		renewing
	}
	unlosableRenewing struct {
		*lease
		renewing
	}
)

// Lost implements lockimpl.LostNotifier.
func (l losable) Lost() <-chan struct{} { return l.lost }

// acquireResult turns the answer to an acquire into what Acquire returns.
func (l *lease) acquireResult(m *message) (lockimpl.Lease, error) {
	losable, renewing := losable{l}, renewing{l}
	switch lost := l.locker.caps["lost"]; {
	case m.T == "acquire_ok" && lost && l.watched():
		return losableRenewing{losable, renewing}, nil
	case m.T == "acquire_ok" && lost:
		return losable, nil
	case m.T == "acquire_ok" && l.watched():
		return unlosableRenewing{l, renewing}, nil
	case m.T == "acquire_ok":
		return l, nil
	case m.T == "acquire_no":
		return nil, lockimpl.ErrHeld
	case m.Definite:
		return nil, fmt.Errorf("%s: %w", m.Text, lockimpl.ErrNoQuorum)
	}
	return nil, unexpected("acquire", m)
}

// unexpected is the error for an answer that decides nothing.
func unexpected(what string, m *message) error {
	return fmt.Errorf("%s: the child says %s %s", what, m.T, m.Text)
}

// grant notes what the library promises.
func (l *lease) grant(m *message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.Until != nil {
		l.until = instant(*m.Until)
		l.lasts = l.until
	}
	if m.T == "acquire_ok" {
		l.fence, l.began, l.ended = m.Fence, m.began, m.ended
	}
}

// asksFor notes that a lease of that length was asked for.
func (l *lease) asksFor(asked time.Time, ttl time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lasts = asked.Add(ttl)
}

// outlived reports whether the lease was over by t, as promised or as was asked for. One that the library renews is
// over when that is told.
func (l *lease) outlived(t time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.watched() && !l.lasts.IsZero() && l.lasts.Before(t)
}

func (l *lease) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.told {
		l.told = true
		close(l.lost)
	}
}

// took notes when the operation that m answers began and ended; a nil m means that there was no
// answer.
func (l *lease) took(m *message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began, l.ended = time.Time{}, time.Time{}
	if m != nil {
		l.began, l.ended = m.began, m.ended
	}
}

// Handle names the lease in its child's writes.
func (l *lease) Handle() string { return l.handle }

// Took says when the acquisition, or the release since, began and ended: by the child's
// word where it can be taken, and otherwise when the harness asked and was answered. Both
// are zero when the release was not answered.
func (l *lease) Took() (began, ended time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.began, l.ended
}

func (l *lease) Fence() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fence
}

// ValidUntil is zero where the library gives its user no deadline.
func (l *lease) ValidUntil() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

func (l *lease) Extend(ctx context.Context, ttl time.Duration) error {
	if !l.locker.caps["extend"] {
		return fmt.Errorf("extend: %w", errors.ErrUnsupported)
	}
	asked := time.Now()
	m, err := l.ask(ctx, "extend", request{"ttl_ms": ttl.Milliseconds()})
	switch {
	case err != nil:
		return err
	case m.T == "extend_ok":
		l.asksFor(asked, ttl)
		l.grant(m)
		return nil
	case m.T == "extend_no":
		return lockimpl.ErrLost
	}
	return unexpected("extend", m)
}

func (l *lease) Release(ctx context.Context) error {
	l.stopRenewals(l.locker.cmd.Watchdog / 10) // until the child begins, which it may say
	m, err := l.ask(ctx, "release", nil)
	l.took(m)
	switch {
	case err != nil:
		return err
	case m.T == "release_ok":
		return nil
	case m.T == "release_no":
		return lockimpl.ErrLost
	}
	return unexpected("release", m)
}

// Held asks whether the library believes that it holds the lease.
func (l *lease) Held(ctx context.Context) (bool, error) {
	if !l.locker.caps["check"] {
		return false, fmt.Errorf("check: %w", errors.ErrUnsupported)
	}
	m, err := l.ask(ctx, "check", nil)
	if err == nil && m.T != "check_ok" {
		err = unexpected("check", m)
	}
	return err == nil && m.Held, err
}

func (l *lease) ask(ctx context.Context, what string, fields request) (*message, error) {
	all := request{"h": l.handle}
	maps.Copy(all, fields)
	return l.locker.ask(ctx, call{what: what, fields: all, budget: l.locker.cmd.IO})
}
