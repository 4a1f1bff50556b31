package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// crashClient ends a client without a word to anybody: no release, no goodbye.
// The heal brings it back as a new owner.
type crashClient struct{ Params }

func (f crashClient) Name() string             { return "crash-client" }
func (f crashClient) Supports(t *Target) error { return needClients(t) }

func (f crashClient) Inject(ctx context.Context, t *Target, rng *rand.Rand) (Injection, error) {
	clients, err := t.PickClients(f.Client, rng)
	if err != nil {
		return Injection{}, err
	}
	c := clients[0]
	if err := t.Take(c.Name()); err != nil {
		return Injection{}, err
	}
	hit := Hit{Clients: []string{c.Name()}, Key: t.Occasion.Key}
	held := t.Holdings(c.Name())
	for _, h := range held {
		hit.Key = h.Key
	}
	t.Begin(hit)
	t.OnHeal(c.Name()+" has crashed", "end the run: its clients end with it", func(ctx context.Context) (string, error) {
		receipt, err := c.Restart(ctx)
		return join(c.Name()+" back as a new owner", receipt), err
	})
	receipt, err := c.Crash(ctx)
	if err != nil {
		return Injection{}, fmt.Errorf("crash %s: %w", c.Name(), err)
	}
	left := "holding nothing"
	for _, h := range t.Holdings(c.Name()) {
		left = fmt.Sprintf("holding %s for %v more", h.Key, round(t.deadline(h)-t.Now()))
	}
	t.Watch.forget(func(owner string) bool { return t.client(owner) == c.Name() })
	return Injection{Target: hit, Receipt: join(c.Name()+" crashed, "+left, receipt)}, nil
}
