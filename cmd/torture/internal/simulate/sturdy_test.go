package simulate

import (
	"testing"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/search"
	"locktorture/faults"
	"locktorture/workload"
)

func sturdyRound(steps ...faults.Spec) search.Round {
	return search.Round{
		Seed: 1, Clients: 2, TTL: 400 * time.Millisecond, Duration: time.Second, Steps: steps,
		Load: config.Load{Keys: 1, Hold: workload.Fixed(20 * time.Millisecond), Think: workload.Fixed(10 * time.Millisecond), Writes: 2, Mode: workload.ModeExclusive},
	}
}

// A round that shows its finding with any delays stays as it is; one that shows it with none
// does so too, and says so. The same is found again.
func TestSturdy(t *testing.T) {
	for lock, want := range map[string]int{"exists-set": sturdyPlays, "single": 0} {
		l, err := catalogue.Builtin().Find(lock)
		if err != nil {
			t.Fatal(err)
		}
		p, r := &Player{Lock: l}, sturdyRound()
		f := search.Finding{ID: "S1"}
		for _, o := range p.Play(t.Context(), r).Outcome.Findings {
			if o.ID == f.ID {
				f = o
			}
		}
		for range 2 {
			got := p.Sturdy(t.Context(), r, f)
			if got.AsFound != want || got.Shown != want || got.Of != sturdyPlays || search.SizeOf(got.Round) != search.SizeOf(r) {
				t.Errorf("%s: %+v: want %d of %d in the round as it was", lock, got, want, sturdyPlays)
			}
		}
	}
}

// Other delays are another history, and the same again.
func TestOtherDelays(t *testing.T) {
	l, err := catalogue.Builtin().Find("single")
	if err != nil {
		t.Fatal(err)
	}
	hash := func(delays uint64) string {
		return (&Player{Lock: l, Delays: delays}).Play(t.Context(), sturdyRound()).Hash
	}
	asFound, other, again := hash(0), hash(1), hash(1)
	if other == asFound || other != again {
		t.Errorf("histories %s and %s, %s with other delays", asFound, other, again)
	}
}

// Larger rounds have a round's steps again and again, or its clients joined by others; a step of
// a client with a name comes once.
func TestSturdier(t *testing.T) {
	step := faults.Spec{Fault: "kill", At: 300 * time.Millisecond, For: 100 * time.Millisecond}
	named := step
	named.By = "c00"
	for name, c := range map[string]struct {
		round search.Round
		steps int
	}{
		"without steps":    {sturdyRound(), 0},
		"with one":         {sturdyRound(step), 8},
		"with one by name": {sturdyRound(named), 1},
	} {
		all := sturdier(c.round)
		first, last := all[0], all[len(all)-1]
		if first.Clients != 2 || first.Duration != sturdyLength || len(first.Steps) != c.steps || last.Clients != sturdyClients || last.Duration != longestSturdy {
			t.Errorf("%s: first %+v, last %+v", name, first, last)
		}
		for i, x := range first.Steps {
			if want := step.At + time.Duration(i)*c.round.Duration; x.At != want {
				t.Errorf("%s: step %d at %v, want %v", name, i, x.At, want)
			}
		}
		if len(c.round.Steps) > 0 && c.round.Steps[0].At != step.At {
			t.Errorf("%s: the round itself was changed: %+v", name, c.round)
		}
	}
}
