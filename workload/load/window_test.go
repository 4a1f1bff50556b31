package load

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
)

// A stuck lock answers nobody.
type stuck struct{}

func (stuck) Acquire(ctx context.Context, _ string, _ time.Duration) (lockimpl.Lease, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (stuck) Close() error { return nil }

// One worker asks again and again, each time for as long as the case says; the
// window lies from the first second to the second. A request across the
// window's beginning is a pair of the window and no latency of it, one across
// its end the reverse, and one that lasts for all of it a latency; each counts
// once. What ended in the warm-up counts for nothing.
func TestClosedLoopCountsRequestsAcrossTheEdgesOnce(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name   string
		lock   lockimpl.Locker
		due    []time.Duration // of what is measured, since the window began
		took   time.Duration
		pairs  int64
		all    int64 // pairs, whenever
		cutOff int64
	}{
		{name: "mostly inside", lock: newSlow(150 * ms), due: []time.Duration{50 * ms, 200 * ms, 350 * ms, 500 * ms, 650 * ms, 800 * ms, 950 * ms}, took: 150 * ms, pairs: 7, all: 14},
		{name: "across both edges", lock: newSlow(300 * ms), due: []time.Duration{200 * ms, 500 * ms, 800 * ms}, took: 300 * ms, pairs: 3, all: 7},
		{name: "one across each edge", lock: newSlow(1500 * ms), due: []time.Duration{500 * ms}, took: 1500 * ms, pairs: 1, all: 2},
		{name: "across the whole window", lock: newSlow(2500 * ms), due: []time.Duration{-1000 * ms}, took: 2500 * ms, all: 1},
		{name: "cut off at the end", lock: stuck{}, due: []time.Duration{-1000 * ms}, took: 2000 * ms, cutOff: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := Closed(t.Context(), []Worker{{c.lock, "k"}}, Task{TTL: time.Minute}, Window{Warmup: time.Second, Measure: time.Second}, 1)
				if !slices.Equal(r.Due, c.due) || len(r.Response) != len(c.due) || len(r.Service) != len(c.due) {
					t.Errorf("measured %v, with %d responses and %d service times; want %v", r.Due, len(r.Response), len(r.Service), c.due)
				}
				for _, d := range r.Response {
					if d != c.took {
						t.Errorf("response of %v, want %v", d, c.took)
					}
				}
				if r.Pairs != c.pairs || r.AllPairs != c.all || r.Grants[0] != c.pairs || r.CutOff != c.cutOff || r.Pending != 0 || r.Errors != 0 {
					t.Errorf("%d pairs of %d, %d grants, %d cut off, %d errors; want %d of %d, %d cut off", r.Pairs, r.AllPairs, r.Grants[0], r.CutOff, r.Errors, c.pairs, c.all, c.cutOff)
				}
			})
		})
	}
}

// What has waited for less than a tenth of the window when that ends says nothing: it
// was neither slow nor served.
func TestPendingAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trace := Trace{{At: 0, Key: "k"}, {At: 895 * time.Millisecond, Key: "k"}, {At: 905 * time.Millisecond, Key: "k"}}
		r, err := Open(t.Context(), []lockimpl.Locker{stuck{}}, Arrivals{Trace: trace, Pace: 1, Limit: 9}, Task{TTL: time.Minute}, Window{Measure: time.Second})
		if err != nil || r.CutOff != 3 || r.Pending != 1 || len(r.Response) != 2 {
			t.Errorf("%d cut off, %d of them pending, responses %v, %v", r.CutOff, r.Pending, r.Response, err)
		}
	})
}

// A broken lock errs, and at once.
type broken struct{ slow }

func (*broken) Acquire(context.Context, string, time.Duration) (lockimpl.Lease, error) {
	time.Sleep(time.Millisecond)
	return nil, errBroken
}

var errBroken = errors.New("no answer")

// A lock that errs at once is not a fast one.
func TestErrorsAreNoFastResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := Closed(t.Context(), []Worker{{&broken{}, "k"}}, Task{TTL: time.Minute}, Window{Measure: time.Second}, 1)
		if r.Errors < 900 || r.Pairs != 0 || r.Err == nil {
			t.Errorf("%d errors, %d pairs, %v", r.Errors, r.Pairs, r.Err)
		}
		if least := slices.Min(r.Response); least != time.Second {
			t.Errorf("an error counts as a response of %v, in a window of a second", least)
		}
	})
}
