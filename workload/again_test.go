package workload

import (
	"math/rand/v2"
	"testing"
	"time"

	"locktorture/workload/history"
)

// Who was not answered asks for that key again, but not in place of a key that is to be held for long: hot keys are not.
func TestWhoWasNotAnsweredAsksAgain(t *testing.T) {
	for name, c := range map[string]struct {
		phase string
		a     arrival
		want  string
	}{
		"one key":         {history.PhaseMain, arrival{keys: []string{"k5"}}, "k0"},
		"asks to the end": {history.PhaseMain, arrival{keys: []string{"k9"}, use: use{stays: true, last: true, after: time.Second}}, "k0"},
		"held for long":   {history.PhaseMain, arrival{keys: []string{"k9"}, use: use{long: true, stays: true}}, "k9"},
		"several keys":    {history.PhaseMain, arrival{keys: []string{"k5", "k6"}}, "k5"},
		"the final phase": {history.PhaseFinal, arrival{keys: []string{"k5"}}, "k5"},
	} {
		w := &worker{phase: &phase{name: c.phase, cfg: Config{TTL: time.Second}}, rng: rand.New(rand.NewPCG(1, 1)), doubtful: "k0"}
		if got := w.again(c.a); got.keys[0] != c.want || len(got.keys) != len(c.a.keys) {
			t.Errorf("%s: %q, want %s first", name, got.keys, c.want)
		} else if turned := got.keys[0] == "k0"; turned && got.use != (use{hold: got.use.hold}) || !turned && got.use != c.a.use {
			t.Errorf("%s: %+v", name, got.use)
		}
	}
}

// Two faults that are to meet one request are both waited for, and the one after it for none.
func TestTwoMayHoldAClientBack(t *testing.T) {
	c := &Client{}
	var waited []string
	c.HoldBack(func() { waited = append(waited, "the first") })
	c.HoldBack(func() { waited = append(waited, "the second") })
	c.heldBack(t.Context())
	c.heldBack(t.Context())
	if len(waited) != 2 || waited[0] != "the first" || waited[1] != "the second" {
		t.Errorf("waited for %q", waited)
	}
}
