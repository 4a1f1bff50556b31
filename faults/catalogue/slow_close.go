package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

var slowCloseEntry = Entry{
	Name:     "slow-close",
	Wire:     "The node closes its clients' connections; they hear of it late, and send into connections that nobody reads.",
	Survives: "As a stall of one node: time-outs bound it, and what was sent was not applied.",
	Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAny}, Takes: true, For: ttlTimes(0.5),
	New: func(p faults.Params) faults.Fault {
		return slowClose{linkFault{Params: p, name: "slow-close", kind: link.SlowClose}}
	},
}

// slowClose makes nodes close their clients' connections, of which the clients learn late.
type slowClose struct{ linkFault }

// lateEnd is how late clients learn of the end by default.
func lateEnd(ttl time.Duration) time.Duration {
	return max(ttl/4, time.Millisecond).Round(time.Millisecond)
}

// Lasting implements faults.Stretchable: clients hear of the end while the step lasts.
func (f slowClose) Lasting(length, ttl time.Duration) faults.Fault {
	if f.Delay == 0 {
		f.Delay = max(min(lateEnd(ttl), length/2).Truncate(time.Millisecond), time.Millisecond)
	}
	return f
}

func (f slowClose) Supports(t *faults.Target) error {
	if err := f.linkFault.Supports(t); err != nil {
		return err
	}
	return serverFault{commands: []string{"CLIENT"}}.Supports(t)
}

func (f slowClose) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	if f.Delay == 0 {
		f.Delay = lateEnd(s.TTL)
	}
	inj, err := f.linkFault.Inject(ctx, s, rng)
	if err != nil {
		return inj, err
	}
	hit, _ := inj.Target.(faults.Hit)
	for _, end := range hit.Nodes {
		n := nodeAt(s, end)
		closed, err := killClients(ctx, n)
		if err != nil { // another fault has the node down: the watchdog tells of what is none of the plan's
			return inj, fmt.Errorf("%w: %w", faults.ErrMissed, err)
		}
		inj.Note = phrase.Join(inj.Note, fmt.Sprintf("%s closed %d connections, which clients hear of %v later", n.Name(), closed, f.Delay))
	}
	return inj, nil
}

// nodeAt returns the node at the end of a link.
func nodeAt(s *faults.Scope, end string) testbed.Node {
	if end == faults.StoreNode {
		return s.Testbed.Store()
	}
	for _, n := range s.Testbed.Nodes() {
		if n.Name() == end {
			return n
		}
	}
	return nil
}
