package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/watch"
)

var crashClientEntry = Entry{
	Name:     "crash-client",
	Wire:     "The client ends in its critical section without a release; its connections close. It comes back as a new owner.",
	Survives: "The key is free again one TTL later, and not before; nothing of the dead owner stays behind.",
	Default:  faults.Params{Client: faults.RoleHolder}, On: watch.AcquireReplied, For: ttlTimes(0.5),
	New: func(p faults.Params) faults.Fault { return crashClient{p} },
}

// crashClient ends a client abruptly: nothing is released and no connection is closed properly.
// The heal starts it again as a new owner.
type crashClient struct{ faults.Params }

func (f crashClient) Name() string                    { return "crash-client" }
func (f crashClient) Supports(t *faults.Target) error { return needClients(t) }

func (f crashClient) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	clients, err := s.PickClients(f.Client, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	c := clients[0]
	if err := s.Claim(c.Name()); err != nil {
		return faults.Injection{}, err
	}
	hit := faults.Hit{Clients: []string{c.Name()}, Key: s.Occasion.Key}
	held := s.Holdings(c.Name())
	for _, h := range held {
		hit.Key = h.Key
	}
	s.Begin(hit)
	s.OnHeal(c.Name()+" has crashed", "end the run: its clients end with it", func(ctx context.Context) (string, error) {
		receipt, err := c.Restart(ctx)
		return phrase.Join(c.Name()+" back as a new owner", receipt), err
	})
	receipt, err := c.Crash(ctx)
	if err != nil {
		return faults.Injection{}, fmt.Errorf("crash %s: %w", c.Name(), err)
	}
	left := "holding nothing"
	for _, h := range s.Holdings(c.Name()) {
		left = fmt.Sprintf("holding %s for %v more", h.Key, phrase.Round(s.Deadline(h)-s.Now()))
	}
	s.Watch.Forget(func(owner string) bool { return s.ClientName(owner) == c.Name() })
	return faults.Injection{Target: hit, Receipt: phrase.Join(c.Name()+" crashed, "+left, receipt)}, nil
}

// Settings leaves out the node: the client ends for all of them.
func (f crashClient) Settings() []string { return []string{"client"} }

// Claims implements faults.Claimer.
func (f crashClient) Claims() string { return f.Client }
