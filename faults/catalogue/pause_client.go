package catalogue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/watch"
	"locktorture/workload/history"
)

var pauseClientEntry = Entry{
	Name:     "pause-client",
	Wire:     "The client stands still inside its critical section, renewals included, and goes on after its lease has ended.",
	Survives: "Another client takes over; a fence rejects the late write; the sleeper learns of its loss before it acts.",
	Default:  faults.Params{Client: faults.RoleHolder}, On: watch.InSection, For: ttlTimes(1.5),
	New: func(p faults.Params) faults.Fault { return pauseClient{p} },
}

// pauseClient freezes a client, its renewals included, as a stop-the-world
// collection, a swapped-out process or a suspended machine would.
type pauseClient struct{ faults.Params }

func (f pauseClient) Name() string                    { return "pause-client" }
func (f pauseClient) Supports(t *faults.Target) error { return needClients(t) }

func (f pauseClient) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	clients, err := s.PickClients(f.Client, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	c := clients[0]
	if err := s.Claim(c.Name()); err != nil {
		return faults.Injection{}, err
	}
	p := &pausedClient{c: c, s: s, since: s.Now(), began: time.Now()}
	s.OnHeal(c.Name()+" is paused", "end the run: the pause lives inside it", p.resume)
	note, err := c.Pause(ctx)
	if err != nil {
		return faults.Injection{}, fmt.Errorf("pause %s: %w", c.Name(), err)
	}
	hit := faults.Hit{Clients: []string{c.Name()}, Since: p.since}
	for _, h := range s.Holdings(c.Name()) {
		p.held = append(p.held, s.Watch.Track(h))
		hit.Key = h.Key
	}
	if f.wantsHolder(s) && len(p.held) == 0 {
		return faults.Injection{}, fmt.Errorf("%s has just let go: %w", c.Name(), faults.ErrMissed)
	}
	s.Begin(hit)
	return faults.Injection{Target: hit, Note: note}, nil
}

// wantsHolder reports whether the pause must be a holder's.
func (f pauseClient) wantsHolder(s *faults.Scope) bool {
	role, _ := faults.SplitRole(f.Client, faults.RoleAny)
	return !s.Occasion.Moment.GivesBack() && (role == faults.RoleHolder || role == faults.RoleWanted) || slices.Contains([]watch.Moment{watch.AcquireReplied, watch.InSection, watch.RenewalDue, watch.NextRenewalDue, watch.RenewalSent, watch.RenewalMidway, watch.Expiry}, s.Occasion.Moment)
}

// A pausedClient is a client that is paused, and the leases that it held then.
type pausedClient struct {
	c     faults.Client
	s     *faults.Scope
	held  []func() watch.Holding
	since time.Duration
	began time.Time
}

// resume lets the client go on. Its receipt says by how much each lease was
// outlived; a lease that was released all the same proves nothing.
func (p *pausedClient) resume(ctx context.Context) (string, error) {
	name, stood := p.c.Name(), phrase.Round(time.Since(p.began))
	now := p.s.Now()
	var receipts []string
	for _, state := range p.held {
		h := state()
		over := now - p.s.Deadline(h)
		switch {
		case h.EndedBy == history.Release:
		case over > 0:
			receipts = append(receipts, fmt.Sprintf("holder %s of %s outlived its lease by %v", name, h.Key, phrase.Round(over)))
		default:
			receipts = append(receipts, fmt.Sprintf("holder %s of %s stood still for %v of its lease", name, h.Key, stood))
		}
	}
	if _, err := p.c.Resume(ctx); err != nil {
		return "", err
	}
	if len(p.held) == 0 {
		receipts = append(receipts, fmt.Sprintf("%s stood still for %v, holding nothing", name, stood))
	}
	return phrase.Join(receipts...), nil
}

// Settings leaves out the node: the client stands still for all of them.
func (f pauseClient) Settings() []string { return []string{"client"} }

// Claims implements faults.Claimer.
func (f pauseClient) Claims() string { return f.Client }
