// Package load puts a lock under a measured load: goroutines in a closed loop,
// or arrivals in an open one. It records durations and counts, no history; for
// judging there is the package workload.
package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"locktorture/lockimpl"
)

// A Kind of load.
type Kind string

// The kinds. In a closed loop the next request waits for the last answer, so
// that a slow server is asked less; in an open loop requests come when they
// come, and count from the moment at which they were due.
const (
	ClosedLoop Kind = "closed loop"
	OpenLoop   Kind = "open loop"
)

// A Task is what one request does with the lock.
type Task struct {
	TTL    time.Duration
	Hold   time.Duration // between grant and release
	Wait   time.Duration // how long a request waits for a key that is held; 0 is a single try
	Extend bool          // extend once before the release

	// Pause draws the time between two tries at a held key, for a lock that
	// cannot wait by itself; nil is a millisecond.
	Pause func(rng *rand.Rand) time.Duration
}

// A Window is when a load is measured.
type Window struct {
	Warmup  time.Duration // offered before, and discarded
	Measure time.Duration
}

// A Result is what a load met with. Durations are those of requests that began
// in the measured window or lasted for all of it; a request that the end of the
// window cut off counts with the time that it lasted. The response of one that failed is
// the whole window at least: nobody knows how long a grant would have taken, and errors
// that come at once make no load fast.
type Result struct {
	Kind   Kind
	Window time.Duration // measured

	Due       []time.Duration // intended start of each request, since the window began
	Response  []time.Duration // grant, refusal or cut-off of the same request, from the intended start
	Service   []time.Duration // the same, from the actual start
	Extend    []time.Duration
	Release   []time.Duration
	HandOff   []time.Duration // from one owner's call of release to the next owner's grant of the same key
	Validity  []time.Duration // of a lease, left at the call of release; only of locks that promise any
	Overheld  []time.Duration // by how much a hold outlasted what was asked for
	Grants    []int64         // per worker, or per client in an open loop, in the window
	Pairs     int64           // released in the window: as many are lost at its end as are won at its beginning
	AllPairs  int64           // the same, with the warm-up and what ended after the window
	Refused   int64           // waited in vain
	Errors    int64           // neither granted nor refused; the last one is Err
	Err       error
	Changes   int64 // grants to another owner than the one before, of the same key
	CutOff    int64 // requests that the end of the window cut off
	Pending   int64 // of these, when that end came too soon to say anything of them: in no Response
	Lag       []time.Duration
	Offered   int64 // open loop: arrivals due in the window
	Dropped   int64 // open loop: of these, never started: too many were under way
	MaxFlight int64 // open loop: requests under way at most
}

// Rate is how many pairs were completed per second.
func (r *Result) Rate() float64 { return float64(r.Pairs) / r.Window.Seconds() }

// maxGrace bounds for how long a request may have waited at the end of the window
// without saying anything: a tenth of the window at most.
const maxGrace = time.Second

// closing bounds extensions and releases after the end of the window. One
// deadline serves all of them: a timer for each would cost as much as a fast
// lock does.
const closing = 20 * time.Second

// A session is one load under way.
type session struct {
	task     Task
	from, to time.Time       // the measured window
	end      context.Context // of acquires: the end of the window
	finish   context.Context // of extensions and releases

	mu    sync.Mutex
	out   Result
	owner map[string]holding
}

// A holding is the last one of a key.
type holding struct {
	by       int
	released time.Time // when its release was called
}

func newSession(ctx context.Context, k Kind, t Task, w Window) (*session, context.CancelFunc) {
	from := time.Now().Add(w.Warmup)
	s := &session{task: t, from: from, to: from.Add(w.Measure), owner: map[string]holding{}}
	s.out.Kind, s.out.Window = k, w.Measure
	end, cancel := context.WithDeadline(ctx, s.to)
	finish, abandon := context.WithDeadline(context.WithoutCancel(ctx), s.to.Add(t.Hold+closing))
	s.end, s.finish = end, finish
	return s, func() { cancel(); abandon() }
}

// A request is one acquire with what follows.
type request struct {
	locker lockimpl.Locker
	key    string
	by     int       // worker or client
	due    time.Time // intended start
	rng    *rand.Rand
}

// serve carries one request through. It returns when the key is released.
func (s *session) serve(r request) {
	began := time.Now()
	lease, err := s.acquire(r, began)
	granted := time.Now()
	s.took(r, began, granted, err)
	if err != nil {
		return
	}
	s.hold()
	held := time.Now()
	extended := time.Duration(-1)
	if s.task.Extend {
		if lease.Extend(s.finish, s.task.TTL) == nil {
			extended = time.Since(held)
		}
	}
	release := time.Now()
	left := lease.ValidUntil()
	s.leaving(r, release)
	err = lease.Release(s.finish)
	done := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.out.Errors++
		s.out.Err = err
	}
	s.out.AllPairs++
	if !done.Before(s.from) && done.Before(s.to) {
		s.out.Pairs++
	}
	if !s.counts(r.due, done) {
		return
	}
	s.out.Release = append(s.out.Release, done.Sub(release))
	s.out.Overheld = append(s.out.Overheld, held.Sub(granted)-s.task.Hold)
	if extended >= 0 {
		s.out.Extend = append(s.out.Extend, extended)
	}
	if !left.IsZero() {
		s.out.Validity = append(s.out.Validity, left.Sub(release))
	}
}

// counts reports whether a request is measured: it began in the window, or
// lasted for all of it.
func (s *session) counts(due, done time.Time) bool {
	return due.Before(s.to) && (!due.Before(s.from) || !done.Before(s.to))
}

// acquire waits as the lock itself can, or by asking again.
func (s *session) acquire(r request, began time.Time) (lockimpl.Lease, error) {
	if s.task.Wait <= 0 {
		return r.locker.Acquire(s.end, r.key, s.task.TTL)
	}
	ctx, cancel := context.WithDeadline(s.end, began.Add(s.task.Wait))
	defer cancel()
	if w, ok := r.locker.(lockimpl.WaitLocker); ok {
		return w.AcquireWait(ctx, r.key, s.task.TTL)
	}
	for {
		lease, err := r.locker.Acquire(ctx, r.key, s.task.TTL)
		if !errors.Is(err, lockimpl.ErrHeld) {
			return lease, err
		}
		if Sleep(ctx, s.gap(r.rng)) != nil {
			return nil, err
		}
	}
}

func (s *session) gap(rng *rand.Rand) time.Duration {
	if s.task.Pause == nil {
		return time.Millisecond
	}
	return s.task.Pause(rng)
}

// hold works for as long as the task says.
func (s *session) hold() {
	if s.task.Hold > 0 {
		_ = Sleep(s.finish, s.task.Hold)
	}
}

// Sleep waits for d, or returns the error of ctx when that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// took files the answer to an acquire.
func (s *session) took(r request, began, granted time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cut := err != nil && s.end.Err() != nil
	counts := s.counts(r.due, granted)
	failed := err != nil && !cut && !errors.Is(err, lockimpl.ErrHeld)
	response := granted.Sub(r.due)
	if failed {
		response = max(response, s.out.Window)
	}
	pending := cut && granted.Sub(r.due) <= min(s.out.Window/10, maxGrace)
	if counts && !pending {
		s.out.Due = append(s.out.Due, r.due.Sub(s.from))
		s.out.Response = append(s.out.Response, response)
		s.out.Service = append(s.out.Service, granted.Sub(began))
	}
	switch {
	case cut:
		if counts {
			s.out.CutOff++
		}
		if counts && pending {
			s.out.Pending++
		}
	case errors.Is(err, lockimpl.ErrHeld):
		if counts {
			s.out.Refused++
		}
	case failed:
		s.out.Err = err
		if counts {
			s.out.Errors++
		}
	default:
		s.granted(r, granted)
	}
}

// granted files a grant and, when the key has changed hands, the hand-off.
func (s *session) granted(r request, at time.Time) {
	if at.Before(s.from) || !at.Before(s.to) {
		return
	}
	s.out.Grants[r.by]++
	last, known := s.owner[r.key]
	if !known || last.by == r.by {
		return
	}
	s.out.Changes++
	s.out.HandOff = append(s.out.HandOff, at.Sub(last.released))
}

func (s *session) leaving(r request, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owner[r.key] = holding{by: r.by, released: at}
}
