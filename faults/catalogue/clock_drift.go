package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/internal/wait"
	"locktorture/faults/testbed"
)

var clockDriftEntry = Entry{
	Name:     "clock-drift",
	Wire:     "The node's clock runs fast by a tenth of the TTL per TTL unless told otherwise, and is put right at the heal.",
	Survives: "Drift within the allowance costs nothing; beyond it validity is overrun on that node only.",
	Beyond:   "clocks of nodes drift by less than the allowance",
	Default:  faults.Params{Node: faults.RoleAny}, Needs: testbed.AbilityClockJump, For: ttlTimes(1),
	New: func(p faults.Params) faults.Fault { return clockDrift{p} },
}

// clockDrift lets the clocks of nodes run fast, or slow, by small steps.
type clockDrift struct{ faults.Params }

// driftStep is how often a drifting clock is moved.
const driftStep = 50 * time.Millisecond

func (f clockDrift) Name() string                    { return "clock-drift" }
func (f clockDrift) Supports(t *faults.Target) error { return needClocks(t) }

func (f clockDrift) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	nodes, err := pickVictims(ctx, s, f.Params, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	if err := findPrey(ctx, nodes, expiring); err != nil {
		return faults.Injection{}, err
	}
	by := f.Jump // gained per TTL
	if by == 0 {
		by = s.TTL / 10
	}
	step := max(1, time.Duration(float64(by)*float64(driftStep)/float64(s.TTL)))
	hit := faults.Hit{Nodes: phrase.Names(nodes)}
	s.Begin(hit)
	for _, n := range nodes {
		var moved atomic.Int64
		total := func() time.Duration { return time.Duration(moved.Load()) }
		onJumped(s, n, total)
		s.Background(n.Name()+"'s clock drifts", func(ctx context.Context) error {
			for wait.For(ctx, driftStep) {
				if _, err := n.(testbed.ClockJumper).JumpClock(context.WithoutCancel(ctx), step); err != nil {
					return err
				}
				moved.Add(int64(step))
			}
			return nil
		}, func() string {
			if total() == 0 {
				return ""
			}
			return fmt.Sprintf("%s gained %v", n.Name(), total())
		})
	}
	return faults.Injection{Target: hit}, nil
}

// Settings adds how far the clock moves in a TTL.
func (f clockDrift) Settings() []string { return append(f.Params.Settings(), "jump") }

// Claims implements faults.Claimer.
func (f clockDrift) Claims() string { return f.Node }
