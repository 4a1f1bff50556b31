package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/wait"
	"locktorture/faults/link"
)

var flappingEntry = Entry{
	Name:     "flapping",
	Wire:     "Connections are closed and new ones refused, on and off, dozens of times in a TTL.",
	Survives: "Each reconnection is cheap and bounded; half an operation is never mistaken for a whole one.",
	Default:  faults.Params{Client: faults.RoleAny, Node: faults.RoleMinority}, Takes: true, For: ttlTimes(0.75),
	New: newFlapping,
}

// flapping cuts links and opens them again, many times, at random.
type flapping struct{ linkFault }

func newFlapping(p faults.Params) faults.Fault {
	return flapping{linkFault{Params: p, name: "flapping", kind: link.Cut}}
}

func (f flapping) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	hit, err := f.aim(ctx, s, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	s.Begin(hit)
	applied := f.impairments(s, hit)
	var cuts atomic.Int64
	mean := max(s.TTL/50, time.Millisecond)
	s.Background("links flap on "+applied.where, func(ctx context.Context) error {
		for wait.For(ctx, time.Duration(rng.Int64N(int64(2*mean)))) {
			if err := f.flap(ctx, s, applied, hit, time.Duration(rng.Int64N(int64(mean)))); err != nil {
				return err
			}
			cuts.Add(1)
		}
		return nil
	}, func() string {
		if !applied.tookEffect() {
			return ""
		}
		return fmt.Sprintf("%d cuts of %v on average", cuts.Load(), mean/2)
	})
	return faults.Injection{Target: hit, Note: applied.where, TookEffect: applied.tookEffect}, nil
}

// flap cuts every link for d. It ends with all of them open.
func (f flapping) flap(ctx context.Context, s *faults.Scope, applied *impairments, hit faults.Hit, d time.Duration) error {
	detached := context.WithoutCancel(ctx)
	for _, l := range everyLink(hit) {
		if err := applied.impair(detached, s, s.Link(l.Client, l.Node), link.Impairment{Kind: f.kind}); err != nil {
			return err
		}
	}
	wait.For(ctx, d)
	_, err := applied.heal(detached)
	return err
}
