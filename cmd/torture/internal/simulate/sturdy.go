package simulate

import (
	"context"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/search"
	"locktorture/faults"
)

// A Sturdy is the round that shows a finding most reliably whatever the delays of messages are,
// among some that are larger than the one it was made of. Made small, a round is as small as its
// own delays allow, event for event; no other network repeats them.
type Sturdy struct {
	Round   search.Round `json:"round"`
	Shown   int          `json:"shown"`    // plays of Round that showed the finding, each with delays of its own
	AsFound int          `json:"as_found"` // as many plays of the round that it was made of
	Of      int          `json:"of"`
}

const (
	// sturdyPlays is how often each round is played, and sturdyEnough how many of these must
	// show the finding for no larger round to be tried.
	sturdyPlays  = 10
	sturdyEnough = 9
)

// Sturdy looks for that round. Delays are drawn at the pace of r, from other seeds.
func (p *Player) Sturdy(ctx context.Context, r search.Round, f search.Finding) Sturdy {
	s := Sturdy{Round: r, Shown: p.showsWithOtherDelays(ctx, r, f), Of: sturdyPlays}
	s.AsFound = s.Shown
	for _, larger := range sturdier(r) {
		if s.Shown >= sturdyEnough || ctx.Err() != nil {
			break
		}
		if p.Fits(larger) != nil {
			continue
		}
		if n := p.showsWithOtherDelays(ctx, larger, f); n > s.Shown {
			s.Round, s.Shown = larger, n
		}
	}
	return s
}

// showsWithOtherDelays counts in how many of sturdyPlays plays r shows f.
func (p *Player) showsWithOtherDelays(ctx context.Context, r search.Round, f search.Finding) (shown int) {
	other := *p
	other.Watch = nil
	for i := range uint64(sturdyPlays) {
		other.Delays = i + 1
		if p.Twin != nil {
			twin := *p.Twin
			twin.Delays = other.Delays
			other.Twin = &twin
		}
		if slices.ContainsFunc(executor{&other}.Play(ctx, r).Findings, f.Same) {
			shown++
		}
	}
	return shown
}

const (
	sturdyLength  = 8 * time.Second  // of a round that has time for its steps again
	longestSturdy = 24 * time.Second // of one that needs luck besides
	sturdyClients = 5
)

// sturdier are rounds that give what r shows more chances, the least costly first: more time, its
// steps again and again, and more clients.
func sturdier(r search.Round) (all []search.Round) {
	again := repeatedFor(r, sturdyLength)
	for _, clients := range []int{r.Clients, r.Clients + 1, sturdyClients} {
		if clients != r.Clients {
			c := r
			c.Clients = clients
			all = append(all, c)
		}
		c := again
		c.Clients = max(clients, r.Clients)
		all = append(all, c)
	}
	last := repeatedFor(r, longestSturdy)
	last.Clients = max(sturdyClients, r.Clients)
	return append(all, last)
}

// repeatedFor is r until a length is reached, its steps each time anew. A name is bound once: a
// round in which one is, or in which a step is about one client, is only made longer.
func repeatedFor(r search.Round, length time.Duration) search.Round {
	c := r
	c.Steps = slices.Clone(r.Steps)
	named := slices.ContainsFunc(r.Steps, func(x faults.Spec) bool {
		_, binds := faults.SplitRole(x.Client, faults.RoleAny)
		return binds != "" || x.By != ""
	})
	for at := r.Duration; at < length; at += r.Duration {
		for _, x := range r.Steps {
			if x.At += at; !named {
				c.Steps = append(c.Steps, x)
			}
		}
		c.Duration = at + r.Duration
	}
	return c
}
