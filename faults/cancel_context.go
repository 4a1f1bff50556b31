package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// A CancellingClient is a Client whose operations can be cancelled from
// outside.
type CancellingClient interface {
	// Cancel ends the context of every operation that the client has under way,
	// and returns how many there were.
	Cancel() int
}

// cancelContext cancels what a client has under way, again and again, at random
// points: as a user who gives up, or a deadline of the caller's.
type cancelContext struct{ Params }

func (f cancelContext) Name() string { return "cancel-context" }

func (f cancelContext) Supports(t *Target) error {
	if err := needClients(t); err != nil {
		return err
	}
	for _, c := range t.Clients {
		if _, ok := c.(CancellingClient); !ok {
			return fmt.Errorf("needs clients whose operations can be cancelled; %s is none", c.Name())
		}
	}
	return nil
}

func (f cancelContext) Inject(_ context.Context, t *Target, rng *rand.Rand) (Injection, error) {
	clients, err := t.PickClients(f.Client, rng)
	if err != nil {
		return Injection{}, err
	}
	if f.Delay == 0 {
		f.Delay = max(t.TTL/100, time.Millisecond)
	}
	hit := Hit{Clients: names(clients), Key: t.Occasion.Key}
	t.Begin(hit)
	var bitten atomic.Bool
	for _, c := range clients {
		draws, cancelled := rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())), 0
		t.background(c.Name()+"'s operations are cancelled", func(ctx context.Context) error {
			for sleep(ctx, time.Duration(draws.Int64N(int64(2*f.Delay)))) {
				cancelled += c.(CancellingClient).Cancel()
				bitten.Store(cancelled > 0 || bitten.Load())
			}
			return nil
		}, func() string {
			if cancelled == 0 {
				return ""
			}
			return fmt.Sprintf("%d operations of %s cancelled under way", cancelled, c.Name())
		})
	}
	return Injection{Target: hit, Bitten: bitten.Load}, nil
}
