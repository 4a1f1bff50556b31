package search

import (
	"context"
	"slices"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/faults"
	"locktorture/faults/watch"
	"locktorture/workload"
)

// large is a round with one step that matters among many.
func large() Round {
	r := Round{
		Seed: 5, Clients: 12, TTL: 500 * time.Millisecond, Duration: 5 * time.Second,
		Load: config.Load{Keys: 2, Hold: workload.Fixed(100 * time.Millisecond), Writes: 3, Mode: workload.ModeMixed, Wait: time.Second, Extend: 0.1},
	}
	for i := range 9 {
		r.Steps = append(r.Steps, faults.Spec{Fault: []string{"latency", "reset", "cut"}[i%3], At: time.Duration(i+1) * 300 * time.Millisecond, For: 200 * time.Millisecond})
	}
	r.Steps = append(r.Steps, faults.Spec{Fault: "pause-client", At: 500 * time.Millisecond, On: watch.InSection, Until: watch.ReleaseReplied, For: 1500 * time.Millisecond, Times: 2, Every: 1600 * time.Millisecond})
	return r
}

// shown is the finding of the model's that has an id.
func shown(t *testing.T, m *model, r Round, id string) Finding {
	t.Helper()
	o := m.Play(t.Context(), r)
	i := slices.IndexFunc(o.Findings, func(f Finding) bool { return f.ID == id })
	if i < 0 {
		t.Fatalf("the round does not show %s: %+v", id, o)
	}
	return o.Findings[i]
}

// TestShrink: of a large round nothing is left but what its finding needs.
func TestShrink(t *testing.T) {
	for _, jobs := range []int{1, 4} {
		m := newModel()
		f := shown(t, m, large(), "S5")
		s := Shrinker{Executor: m, Jobs: jobs}
		small, ok := s.Shrink(t.Context(), large(), f)
		if !ok || small.Again != small.Of || small.Of != defaultProofs {
			t.Fatalf("%d jobs: %+v, %v", jobs, small, ok)
		}
		if r := small.Round; len(r.Steps) != 1 || r.Steps[0].Fault != "pause-client" || r.Steps[0].Until != "" || r.Clients > 3 || r.Load.Keys != 1 ||
			r.Load.Mode != workload.ModeExclusive || r.Load.Wait != 0 || r.Duration > 3*time.Second {
			t.Errorf("%d jobs: left is %+v", jobs, r)
		}
		if small.Before != SizeOf(large()) || small.After != SizeOf(small.Round) || small.Trials == 0 {
			t.Errorf("%d jobs: %+v", jobs, small)
		}
		if small.Trials > defaultTrials+2*defaultProofs+jobs {
			t.Errorf("%d jobs: %d plays", jobs, small.Trials)
		}
	}
}

// TestShrinkFlaky: a finding that a third of the plays miss is made small all the
// same, and how often it shows is told as it is.
func TestShrinkFlaky(t *testing.T) {
	m := newModel()
	f := shown(t, m, large(), "S5")
	m.flaky = 0.15
	s := Shrinker{Executor: m, Jobs: 2, Trials: 200}
	small, ok := s.Shrink(t.Context(), large(), f)
	if !ok || small.After.Steps > small.Before.Steps/2 || small.Again == 0 {
		t.Errorf("%+v, %v", small, ok)
	}
}

// TestShrinkWhatDoesNotShow: a round that does not show the finding again is not
// shrunk, and that is told.
func TestShrinkWhatDoesNotShow(t *testing.T) {
	m := newModel()
	f := Finding{ID: "S9", Blame: "server"}
	s := Shrinker{Executor: m}
	small, ok := s.Shrink(t.Context(), large(), f)
	if ok || small.Again != 0 || small.Of == 0 || SizeOf(small.Round) != SizeOf(large()) {
		t.Errorf("%+v, %v", small, ok)
	}
}

// TestShrinkEndsWithItsContext and says that it came to nothing.
func TestShrinkEndsWithItsContext(t *testing.T) {
	m := newModel()
	f := shown(t, m, large(), "S5")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := Shrinker{Executor: m, Jobs: 2}
	if small, ok := s.Shrink(ctx, large(), f); ok {
		t.Errorf("%+v", small)
	}
}

// TestNothingNeeded: a finding of contention alone is left without any step.
func TestNothingNeeded(t *testing.T) {
	m := always{newModel()}
	s := Shrinker{Executor: m, Jobs: 2}
	small, ok := s.Shrink(t.Context(), large(), Finding{ID: "S1"})
	if !ok || len(small.Round.Steps) > 0 || small.Round.Clients != 1 {
		t.Errorf("%+v, %v", small.Round, ok)
	}
}

// always shows S1, whatever is played.
type always struct{ *model }

func (a always) Play(ctx context.Context, r Round) Outcome {
	o := a.model.Play(ctx, r)
	o.Findings = []Finding{{ID: "S1"}}
	return o
}
