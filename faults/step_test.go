package faults_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/watch"
)

// Nothing is recorded of an attempt that found nobody to hit.
func TestMissedIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 1)
		tries, undone := 0, 0
		f := faulttest.Fault("choosy", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
			s.OnHeal("x", "x", func(context.Context) (string, error) { undone++; return "", nil })
			if tries++; tries < 3 {
				return faults.Injection{}, faults.ErrMissed
			}
			return faults.Injection{Target: "x", Receipt: "took effect"}, nil
		})
		if _, err := w.Run(t.Context(), faults.Step{Fault: f, For: second}); err != nil {
			t.Fatal(err)
		}
		w.WantStory(t, "10ms invoke fault choosy", "10ms ok fault choosy", "1.01s invoke heal choosy", "1.01s ok heal choosy")
		if undone != 3 {
			t.Errorf("%d of 3 attempts undone", undone)
		}
	})
}

// A fault that began and then found nobody to hit has failed, and is not tried again.
func TestMissedBehindItsBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 1)
		f := faulttest.Fault("hasty", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
			s.Begin(faults.Hit{})
			return faults.Injection{}, faults.ErrMissed
		})
		if _, err := w.Run(t.Context(), faults.Step{Fault: f, For: second}); err != nil {
			t.Error(err)
		}
		w.WantStory(t, "0s invoke fault hasty", "0s fail fault hasty")
	})
}

// A step that never found anybody says so, beside that its moment did not come again.
func TestNobodyToHitIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 1)
		w.Script(map[time.Duration]func(){second / 2: func() { w.Grant("k0", "c00") }})
		f := faulttest.Fault("choosy", func(context.Context, *faults.Scope, *rand.Rand) (faults.Injection, error) {
			return faults.Injection{}, faults.ErrMissed
		})
		res, err := w.Run(t.Context(), faults.Step{When: faults.Trigger{On: watch.AcquireReplied, Within: second}, Fault: f, For: second})
		if err != nil || !strings.Contains(res.Steps[0].Err, "moment never came") || !strings.Contains(res.Steps[0].Err, "nobody to hit") {
			t.Errorf("%+v, %v", res.Steps[0], err)
		}
	})
}

// Another victim is looked for at the moment to which the step turns, however long after the first one's, and as
// patiently as the first: whoever is not wanted is taken a TTL after that moment only.
func TestAnotherVictimIsLookedForAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(5, 2)
		w.Script(map[time.Duration]func(){
			second / 2:  func() { w.Grant("k0", "c01") },
			15 * second: func() { w.Grant("k1", "c01") },
			20 * second: func() { w.Release("k1", "c01") },
			21 * second: func() { w.Grant("k2", "c01"); w.Release("k2", "c01") },
			23 * second: func() { w.Grant("k3", "c01"); w.Release("k3", "c01") },
		})
		var began []time.Duration
		f := faulttest.Fault("a", func(_ context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
			if _, err := s.PickClients(faults.RoleWanted, rng); len(began) > 0 && err != nil {
				return faults.Injection{}, err
			}
			began = append(began, s.Now())
			s.Begin(faults.Hit{Clients: []string{"c00"}})
			return faults.Injection{TookEffect: func() bool { return len(began) > 1 }, Receipt: "x"}, nil
		})
		when := faults.Trigger{On: watch.AcquireReplied, Within: second, Else: watch.ReleaseSent}
		if _, err := w.Run(t.Context(), faults.Step{When: when, Fault: f, For: second}); err != nil {
			t.Fatal(err)
		}
		if want := []time.Duration{second / 2, 23 * second}; !slices.Equal(began, want) {
			t.Errorf("attempts at %v, want %v", began, want)
		}
	})
}

// Who wants somebody that holds what another one asks for, or reads beside another one, takes any
// holder once there was none for a while.
func TestRareHoldersAreNotWaitedForForEver(t *testing.T) {
	for role, leases := range map[string]float64{faults.RoleWanted: 1, faults.RoleReader: .5} {
		synctest.Test(t, func(t *testing.T) { choosesInTime(t, role, leases) })
	}
}

// choosesInTime reports an error unless a step that is to hit a client of a role, of which there is
// none, hits another one after so many TTLs.
func choosesInTime(t *testing.T, role string, leases float64) {
	t.Helper()
	w := faulttest.New(5, 2)
	w.Script(map[time.Duration]func(){0: func() { w.Grant("k0", "c01") }, 3 * second / 2: func() { w.Grant("k1", "c01") }})
	var began time.Duration
	start := time.Now()
	f := faulttest.Fault("choosy", func(_ context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
		found, err := s.PickClients(role, rng)
		if err != nil {
			return faults.Injection{}, err
		}
		began = time.Since(start)
		return faults.Injection{Instant: true, Target: found[0].Name(), Receipt: "x"}, nil
	})
	if _, err := w.Run(t.Context(), faults.Step{Fault: f}); err != nil {
		t.Fatal(err)
	}
	want := time.Duration(leases * float64(w.TTL))
	if began < want || began > want+100*time.Millisecond {
		t.Errorf("%s: began at %v, want after %v", role, began, want)
	}
}

// A step's draws depend on its place in the schedule and on the seed alone.
func TestStreamPerStep(t *testing.T) {
	draws := func(first int) (got uint64) {
		synctest.Test(t, func(t *testing.T) {
			w := faulttest.New(5, 1)
			greedy := faulttest.Fault("greedy", func(_ context.Context, _ *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
				for range first {
					rng.Uint64()
				}
				return faults.Injection{Instant: true, Receipt: "x"}, nil
			})
			frugal := faulttest.Fault("frugal", func(_ context.Context, _ *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
				got = rng.Uint64()
				return faults.Injection{Instant: true, Receipt: "x"}, nil
			})
			if _, err := w.Run(t.Context(), faults.Step{Fault: greedy}, faults.Step{When: faults.Trigger{After: second}, Fault: frugal}); err != nil {
				t.Fatal(err)
			}
		})
		return got
	}
	if a, b := draws(0), draws(7); a != b {
		t.Errorf("one step's draws shifted another's: %d, %d", a, b)
	}
}
