package catalogue

import (
	"context"
	"math/rand/v2"
	"time"

	"locktorture/faults"
	"locktorture/faults/link"
)

var latencyEntry = Entry{
	Name:     "latency",
	Wire:     "Every packet between the clients and the node is delayed, with jitter, both ways.",
	Survives: "Nothing breaks: validity shrinks by the time spent; a lock that ignores it grants leases that have ended.",
	Default:  faults.Params{Client: faults.RoleAll, Node: faults.RoleAny}, For: ttlTimes(1),
	New: newLatency("latency"),
}

// defaultDelay is the share of the TTL by which latency delays each packet.
const defaultDelay = 40

// latency delays every packet.
type latency struct{ linkFault }

func newLatency(name string) func(faults.Params) faults.Fault {
	return func(p faults.Params) faults.Fault { return latency{linkFault{Params: p, name: name, kind: link.Delay}} }
}

func (f latency) Supports(t *faults.Target) error { return f.withDefaults(t.TTL).linkFault.Supports(t) }

func (f latency) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	return f.withDefaults(s.TTL).linkFault.Inject(ctx, s, rng)
}

// withDefaults fills in the fault's own choices.
func (f latency) withDefaults(ttl time.Duration) latency {
	if f.Delay == 0 {
		f.Delay = max(ttl/defaultDelay, time.Millisecond).Round(time.Millisecond)
	}
	switch f.Jitter {
	case 0:
		f.Jitter = f.Delay / 2
	case faults.Constant:
		f.Jitter = 0
	}
	return f
}
