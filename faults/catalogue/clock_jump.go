package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/testbed"
)

var clockJumpEntry = Entry{
	Name:     "clock-jump",
	Wire:     "The node's clock jumps, forward by a TTL unless told otherwise, and back at the heal; expiries follow.",
	Survives: "One node's early expiry is no quorum by itself; on the swing node it can be.",
	Beyond:   "clocks of nodes do not jump",
	Default:  faults.Params{Node: faults.RoleAny}, Needs: testbed.AbilityClockJump, For: ttlTimes(0.5),
	New: func(p faults.Params) faults.Fault { return clockJump{p} },
}

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

// Settings adds how far the clock moves.
func (f clockJump) Settings() []string { return append(f.Params.Settings(), "jump") }

// Claims implements faults.Claimer.
func (f clockJump) Claims() string { return f.Node }
