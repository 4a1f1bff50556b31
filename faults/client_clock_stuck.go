package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// clientClockStuck has the wall clocks of clients stand still, all of them at
// the same time of day, as cached clocks do whose updates fail to come, or
// machines that were resumed from one snapshot.
type clientClockStuck struct{ Params }

func (f clientClockStuck) Name() string             { return "client-clock-stuck" }
func (f clientClockStuck) Supports(t *Target) error { return needWallClocks(t) }

func (f clientClockStuck) Inject(_ context.Context, t *Target, rng *rand.Rand) (Injection, error) {
	clients, err := t.PickClients(f.Client, rng)
	if err != nil {
		return Injection{}, err
	}
	hit := Hit{Clients: names(clients), Key: t.Occasion.Key}
	t.Begin(hit)
	now := time.Now()
	var stuck []*movedClock
	for _, c := range clients {
		m, err := stopClock(t, c, now)
		if err != nil {
			return Injection{}, err
		}
		stuck = append(stuck, m)
	}
	return Injection{Target: hit, Note: few(hit.Clients) + " stuck at one time of day", Bitten: anyRead(stuck)}, nil
}

func stopClock(t *Target, c Client, at time.Time) (*movedClock, error) {
	clock, err := wallClock(c)
	if err != nil {
		return nil, err
	}
	if !clock.Stop(at) {
		return nil, fmt.Errorf("%s's clock stands still already: %w", c.Name(), ErrMissed)
	}
	m := &movedClock{clock: clock, before: clock.Reads()}
	m.onHeal(t, c, "stuck", clock.Start)
	return m, nil
}
