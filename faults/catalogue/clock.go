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

// clockJump moves the clocks of nodes, and with them every expiry, and moves
// them back at the heal.
type clockJump struct{ faults.Params }

func (f clockJump) Name() string { return "clock-jump" }

func (f clockJump) Supports(t *faults.Target) error { return needClocks(t) }

func needClocks(t *faults.Target) error {
	return needNodes[testbed.ClockJumper](t, "given another time", "embedded, and process under libfaketime,")
}

func (f clockJump) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	nodes, err := pickVictims(ctx, s, f.Params, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	if err := findPrey(ctx, nodes, expiring); err != nil {
		return faults.Injection{}, err
	}
	by := f.Jump
	if by == 0 {
		by = s.TTL
	}
	hit := faults.Hit{Nodes: phrase.Names(nodes), Key: s.Occasion.Key}
	s.Begin(hit)
	receipts := []string{}
	for _, n := range nodes {
		moved, err := expiring(ctx, n)
		if err != nil {
			return faults.Injection{}, err
		}
		receipt, err := n.(testbed.ClockJumper).JumpClock(ctx, by)
		if err != nil {
			return faults.Injection{}, err
		}
		onJumped(s, n, func() time.Duration { return by })
		receipts = append(receipts, fmt.Sprintf("%s, with it the expiry of %d keys", receipt, moved))
	}
	return faults.Injection{Target: hit, Receipt: phrase.Join(append(receipts, leases(s))...)}, nil
}

// onJumped puts n's clock back by what it has been moved.
func onJumped(s *faults.Scope, n testbed.Node, moved func() time.Duration) {
	s.OnHeal(n.Name()+"'s clock is wrong", "restart the node", func(ctx context.Context) (string, error) {
		if k, ok := n.(testbed.Killer); ok && !k.Alive() {
			return "", nil // nothing answers that could be told the time
		}
		if moved() == 0 {
			return "", nil
		}
		_, err := n.(testbed.ClockJumper).JumpClock(ctx, -moved())
		return "", err
	})
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

// Settings adds how far the clock moves.
func (f clockJump) Settings() []string { return append(f.Params.Settings(), "jump") }

// Settings adds how far the clock moves in a TTL.
func (f clockDrift) Settings() []string { return append(f.Params.Settings(), "jump") }

// Claims implements faults.Claimer.
func (f clockJump) Claims() string { return f.Node }

// Claims implements faults.Claimer.
func (f clockDrift) Claims() string { return f.Node }
