package faults_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/testbed"
)

// A node whose heal fails at first is nobody else's until it is mended.
func TestClaimOutlastsAFailedHeal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 0)
		tries := 0
		stubborn := faulttest.Fault("stubborn", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
			if err := s.Claim("n1"); err != nil {
				return faults.Injection{}, err
			}
			s.OnHeal("n1 is down", "by hand", func(context.Context) (string, error) {
				if tries++; tries == 1 {
					return "", testbed.ErrDown
				}
				return "mended", nil
			})
			return faults.Injection{Receipt: "took effect"}, nil
		})
		next := faulttest.Fault("next", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
			return faults.Injection{Receipt: "took effect"}, s.Claim("n1")
		})
		res, err := w.Run(t.Context(), faults.Step{Fault: stubborn, For: second}, faults.Step{When: faults.Trigger{After: second / 2}, Fault: next})
		if err != nil {
			t.Fatal(err)
		}
		mended := res.Steps[0].Ended
		if tries != 2 || mended < second || res.Steps[1].Started < mended || res.Steps[1].Started > mended+10*time.Millisecond {
			t.Errorf("mended at the try number %d at %v; n1 was another fault's from %v on", tries, mended, res.Steps[1].Started)
		}
	})
}

// What a fault that is over at once had taken is another one's right after.
func TestInstantFaultLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := faulttest.New(1, 1)
		takes := func(name string, instant bool) faults.Fault {
			return faulttest.Fault(name, func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
				return faults.Injection{Receipt: "took effect", Instant: instant}, s.Claim("n1")
			})
		}
		res, err := w.Run(t.Context(), faults.Step{Fault: takes("flush", true)}, faults.Step{When: faults.Trigger{After: second}, Fault: takes("next", false)})
		if err != nil || res.Steps[1].Started != second {
			t.Errorf("%+v, %v", res, err)
		}
	})
}
