package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
)

// A slow lock answers after a fixed time and knows one owner per key.
type slow struct {
	takes time.Duration
	mu    sync.Mutex
	held  map[string]bool
}

func newSlow(takes time.Duration) *slow { return &slow{takes: takes, held: map[string]bool{}} }

func (l *slow) Acquire(_ context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	time.Sleep(l.takes)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[key] {
		return nil, lockimpl.ErrHeld
	}
	l.held[key] = true
	return &slowLease{l, key, time.Now().Add(ttl)}, nil
}

func (*slow) Close() error { return nil }

type slowLease struct {
	l     *slow
	key   string
	until time.Time
}

func (*slowLease) Fence() uint64                               { return 0 }
func (l *slowLease) ValidUntil() time.Time                     { return l.until }
func (*slowLease) Extend(context.Context, time.Duration) error { return errors.ErrUnsupported }
func (l *slowLease) Release(context.Context) error {
	l.l.mu.Lock()
	defer l.l.mu.Unlock()
	delete(l.l.held, l.key)
	return nil
}

func TestClosedLoopCountsPairsOfTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newSlow(10 * time.Millisecond)
		r := Closed(t.Context(), []Worker{{l, "a"}, {l, "b"}}, Task{TTL: time.Second}, Window{Warmup: time.Second, Measure: time.Second}, 1)
		if r.Pairs < 196 || r.Pairs > 200 {
			t.Errorf("%d pairs in a second of two workers at 10 ms each", r.Pairs)
		}
		if r.AllPairs < 398 {
			t.Errorf("%d pairs with the warm-up", r.AllPairs)
		}
		for _, d := range r.Response {
			if d != 10*time.Millisecond {
				t.Fatalf("response %v", d)
			}
		}
		if r.Changes != 0 || len(r.Extend) != 0 {
			t.Errorf("%d hand-offs of keys that nobody shares, %d extensions", r.Changes, len(r.Extend))
		}
	})
}

func TestHandOffsAreCountedBetweenOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newSlow(time.Millisecond)
		task := Task{TTL: time.Second, Hold: 5 * time.Millisecond, Wait: time.Minute,
			Pause: func(rng *rand.Rand) time.Duration {
				return time.Millisecond + time.Duration(rng.IntN(1000))*time.Microsecond
			}}
		r := Closed(t.Context(), []Worker{{l, "hot"}, {l, "hot"}}, task, Window{Measure: 2 * time.Second}, 1)
		if r.Changes == 0 || int64(len(r.HandOff)) != r.Changes {
			t.Fatalf("%d changes of hands, %d hand-offs", r.Changes, len(r.HandOff))
		}
		if r.Changes > r.Grants[0]+r.Grants[1] {
			t.Errorf("%d changes in %v grants", r.Changes, r.Grants)
		}
		for _, d := range r.HandOff {
			if d < 0 {
				t.Fatalf("hand-off %v", d)
			}
		}
	})
}

// An open loop counts from the intended start: where requests take longer than
// arrivals are apart, on one key, the wait grows with the backlog.
func TestOpenLoopCountsFromTheIntendedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newSlow(0)
		a := Arrivals{Rate: 100, Constant: true, Keys: []string{"hot"}, Limit: 20}
		task := Task{TTL: time.Second, Hold: 20 * time.Millisecond, Wait: time.Minute}
		r, err := Open(t.Context(), []lockimpl.Locker{l}, a, task, Window{Measure: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if r.Offered < 98 || r.Offered > 100 {
			t.Errorf("%d offered at 100/s in a second", r.Offered)
		}
		if r.Pairs < 45 || r.Pairs > 50 {
			t.Errorf("%d pairs where the hold allows 50", r.Pairs)
		}
		if r.Dropped == 0 || r.MaxFlight != 20 {
			t.Errorf("%d dropped, %d under way at most", r.Dropped, r.MaxFlight)
		}
		if r.CutOff == 0 {
			t.Error("a backlog stood at the end and nothing was cut off")
		}
	})
}

func TestOpenLoopRefusesNonsense(t *testing.T) {
	for _, a := range []Arrivals{{Keys: []string{"k"}, Limit: 1}, {Rate: 1, Limit: 1}, {Rate: 1, Keys: []string{"k"}}} {
		if _, err := Open(t.Context(), []lockimpl.Locker{newSlow(0)}, a, Task{}, Window{}); err == nil {
			t.Errorf("%+v was accepted", a)
		}
	}
}

func TestPoissonGapsHaveTheirMean(t *testing.T) {
	a := Arrivals{Rate: 1000}
	rng := rand.New(rand.NewPCG(1, 2))
	var sum time.Duration
	const n = 100_000
	for range n {
		sum += a.gap(rng)
	}
	if mean := sum / n; mean < 980*time.Microsecond || mean > 1020*time.Microsecond {
		t.Errorf("mean gap %v at 1000/s", mean)
	}
}
