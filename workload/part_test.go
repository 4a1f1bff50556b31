package workload_test

import (
	"sync"
	"testing"
	"time"

	"locktorture/workload"
	"locktorture/workload/history"
)

// TestParts: two parts of a phase, each with clients of its own, begin on one beat, and
// their summaries add up to what the clients did.
func TestParts(t *testing.T) {
	r := newRig(t, 4)
	cfg := load()
	cfg.Duration = 100 * time.Millisecond
	var ready, all sync.WaitGroup
	ready.Add(2)
	var mu sync.Mutex
	var sum workload.Summary
	events := record(t, func(rec *history.Recorder) {
		for i := range 2 {
			all.Go(func() {
				part := cfg
				part.Part = workload.Part{First: 2 * i, Of: 4}
				s, err := workload.Play(t.Context(), history.PhaseMain, part, r.clients[2*i:2*i+2], rec, func() error {
					ready.Done()
					ready.Wait()
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				sum = sum.And(s)
			})
		}
		all.Wait()
	})
	granted := int64(0)
	for _, e := range events {
		switch {
		case e.Op == history.Phase:
			t.Errorf("a part records the phase itself: %+v", e)
		case e.Op == history.Acquire && e.Kind == history.OK:
			granted++
		}
	}
	if d := sum.Demand; granted == 0 || d.Served != granted || d.Offered != d.Judged()+d.Pending {
		t.Errorf("%d granted, and the demand is %+v", granted, d)
	}
	if d, ok := history.ParseDemand(sum.Event("main").Note); !ok || d.Offered != sum.Demand.Offered || len(d.Waited) != len(sum.Demand.Waited) {
		t.Errorf("the event says %+v, %t", d, ok)
	}
}

// A part whose clients have none of the keys that are left to one client each has nothing more
// to do then.
func TestPartWithoutAKeyOfItsOwnEndsItsFinalPhase(t *testing.T) {
	r := newRig(t, 1)
	cfg := load()
	cfg.Keys, cfg.TTL, cfg.Final, cfg.Part = 2, 100*time.Millisecond, time.Hour, workload.Part{First: 5, Of: 6}
	granted := 0
	record(t, func(rec *history.Recorder) {
		rec.Attach(history.SinkFunc(func(e *history.Event) {
			if e.Op == history.Acquire && e.Kind == history.OK {
				granted++
			}
		}))
		if err := workload.RunFinal(t.Context(), cfg, r.clients, rec); err != nil {
			t.Fatal(err)
		}
	})
	if granted == 0 {
		t.Error("it took no key while all clients took all of them")
	}
}
