package workload

import (
	"math/rand/v2"
	"testing"
	"time"

	"locktorture/workload/history"
)

// Of the arrivals of a mixed load some hold a long key until little is left of its lease,
// with an extension at the end or without, and some wait longer for an answer than a
// lease lasts. In the final phase none does.
func TestMixedLoadDrawsLateHoldersAndPatientClients(t *testing.T) {
	const ttl, arrivals = 2 * time.Second, 4000
	draw := func(name string) (late, extended, patient int) {
		p := &phase{name: name, cfg: Config{Keys: 12, TTL: ttl, Mode: ModeMixed, Hold: Dist{Shape: Constant, Mean: 20 * time.Millisecond}}}
		rng := rand.New(rand.NewPCG(1, 2))
		for range arrivals {
			a := p.mix(rng, rng.IntN(p.cfg.Keys))
			if left := ttl - a.use.hold; !a.use.long && 0 < left && left < ttl/lateLeast {
				late++
				if a.use.last {
					extended++
				}
			}
			if a.use.timeout > ttl {
				patient++
			}
		}
		return late, extended, patient
	}
	late, extended, patient := draw(history.PhaseMain)
	if late < arrivals/500 || extended < late/4 || extended > late*3/4 {
		t.Errorf("of %d arrivals %d hold until little is left, %d of them to extend", arrivals, late, extended)
	}
	if patient < arrivals/5 || patient > arrivals/2 {
		t.Errorf("%d of %d wait longer than a lease lasts", patient, arrivals)
	}
	if late, _, patient := draw(history.PhaseFinal); late+patient > 0 {
		t.Errorf("in the final phase %d hold on and %d wait for long", late, patient)
	}
}

// lateLeast is the share of a lease that is left, at most, when a late holder ends it,
// to the precision of this test.
const lateLeast = 3
