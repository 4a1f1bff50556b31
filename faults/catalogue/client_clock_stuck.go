package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
)

var clientClockStuckEntry = Entry{
	Name:     "client-clock-stuck",
	Wire:     "Nothing: the clients' wall clocks stand still, all at one time of day, and go right again at the heal.",
	Survives: "A lock that leaves the time to the server does not notice; to one whose stamps are its owners, all are one owner.",
	Default:  faults.Params{Client: faults.RoleAll}, For: ttlTimes(1),
	New: func(p faults.Params) faults.Fault { return clientClockStuck{p} },
}

// clientClockStuck stops the wall clocks of clients, all at the same time of day, like cached
// clocks that are not updated, or machines that were resumed from one snapshot.
type clientClockStuck struct{ faults.Params }

func (f clientClockStuck) Name() string                    { return "client-clock-stuck" }
func (f clientClockStuck) Supports(t *faults.Target) error { return needWallClocks(t) }

func (f clientClockStuck) Inject(_ context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	clients, err := s.PickClients(f.Client, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	hit := faults.Hit{Clients: phrase.Names(clients), Key: s.Occasion.Key}
	s.Begin(hit)
	now := time.Now()
	var stuck []*movedClock
	for _, c := range clients {
		m, err := stopClock(s, c, now)
		if err != nil {
			return faults.Injection{}, err
		}
		stuck = append(stuck, m)
	}
	return faults.Injection{Target: hit, Note: phrase.Few(hit.Clients) + " stuck at one time of day", TookEffect: anyRead(stuck)}, nil
}

func stopClock(s *faults.Scope, c faults.Client, at time.Time) (*movedClock, error) {
	clock, err := wallClock(c)
	if err != nil {
		return nil, err
	}
	if !clock.Stop(at) {
		return nil, fmt.Errorf("%s's clock stands still already: %w", c.Name(), faults.ErrMissed)
	}
	m := &movedClock{clock: clock, before: clock.Reads()}
	m.onHeal(s, c, "stuck", clock.Start)
	return m, nil
}

// Settings leaves out the node.
func (f clientClockStuck) Settings() []string { return []string{"client"} }
