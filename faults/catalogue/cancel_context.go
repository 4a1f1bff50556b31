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
	"locktorture/faults/watch"
)

var cancelContextEntry = Entry{
	Name:     "cancel-context",
	Wire:     "The contexts of the client's operations are cancelled at random points, between commands or in the middle of one.",
	Survives: "What was under way is unknown to the caller; what it took is given back or expires, and nothing renews it.",
	Default:  faults.Params{Client: faults.RoleAny}, For: ttlTimes(0.5), On: watch.AcquireSent,
	New: func(p faults.Params) faults.Fault { return cancelContext{p} },
}

// cancelContext cancels the contexts of a client's operations again and again, at random
// points: like a user who gives up, or a deadline of the caller's.
type cancelContext struct{ faults.Params }

func (f cancelContext) Name() string { return "cancel-context" }

func (f cancelContext) Supports(t *faults.Target) error {
	if err := needClients(t); err != nil {
		return err
	}
	for _, c := range t.Clients {
		if _, ok := c.(faults.CancellingClient); !ok {
			return fmt.Errorf("needs clients whose operations can be cancelled; %s is none", c.Name())
		}
	}
	return nil
}

func (f cancelContext) Inject(_ context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	clients, err := s.PickClients(f.Client, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	if f.Delay == 0 {
		f.Delay = max(s.TTL/100, time.Millisecond)
	}
	hit := faults.Hit{Clients: phrase.Names(clients), Key: s.Occasion.Key}
	s.Begin(hit)
	var tookEffect atomic.Bool
	for _, c := range clients {
		draws, cancelled := rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())), 0
		s.Background(c.Name()+"'s operations are cancelled", func(ctx context.Context) error {
			for wait.For(ctx, time.Duration(draws.Int64N(int64(2*f.Delay)))) {
				cancelled += c.(faults.CancellingClient).Cancel()
				tookEffect.Store(cancelled > 0 || tookEffect.Load())
			}
			return nil
		}, func() string {
			if cancelled == 0 {
				return ""
			}
			return fmt.Sprintf("%d operations of %s cancelled under way", cancelled, c.Name())
		})
	}
	return faults.Injection{Target: hit, TookEffect: tookEffect.Load}, nil
}

// Settings adds the time between cancellations.
func (f cancelContext) Settings() []string { return []string{"client", "delay"} }
