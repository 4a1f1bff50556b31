package search

import (
	"maps"
	"time"

	"locktorture/workload/history"
	"locktorture/workload/history/fold"
)

// The near misses of a round. Each is a length of time as a share of the lease's:
// the shorter, the nearer was the lock to break its word.
const (
	nearWrite    = "validity left at a write"              // a little later it were a write without a lease
	nearRenewal  = "validity left when a renewal answered" // … a renewal that comes too late
	nearTakeover = "gap after a lease that ran out"        // between its end and the next grant: below zero both hold
	nearUnknown  = "gap after an attempt without answer"   // until the next grant: what is left of it may stand in the way, or count
	nearRelease  = "validity left at a release"            // … a release that arrives when the lease is another's
	nearLeft     = "key left behind"                       // the reciprocal of for how long: the longer, the nearer to one that nobody gives back
)

// A Nearness follows a history for how closely it passes by an anomaly. It is a
// history.Sink. A gap after a lease that was given back is no near miss: it is
// always as short as the hand-over is fast.
type Nearness struct {
	who  *fold.Holdings
	ttl  time.Duration
	best map[string]float64

	ends    map[*fold.Holding]time.Duration // of leases, before what comes now moved them
	unknown map[string]time.Duration        // when an attempt at a key last ended without an answer
}

// NewNearness returns one for a history with header h.
func NewNearness(h history.Header) *Nearness {
	return &Nearness{who: fold.NewHoldings(h), ttl: h.TTL, best: map[string]float64{}, ends: map[*fold.Holding]time.Duration{}, unknown: map[string]time.Duration{}}
}

// Event implements history.Sink.
func (n *Nearness) Event(e *history.Event) {
	if e.Op == history.Write && e.Kind == history.Invoke {
		if h := n.who.Find(e.Key, e.Owner); h != nil {
			n.miss(nearWrite, h.Deadline-e.Time)
		}
	}
	c := n.who.Event(e)
	if e.Op == history.Acquire && e.Kind == history.Info {
		n.unknown[e.Key] = e.Time
	}
	switch c.Step {
	case fold.Granted:
		n.granted(e, c)
	case fold.Extended:
		n.miss(nearRenewal, n.ends[c.Holding]-e.Time)
		n.ends[c.Holding] = c.Holding.Deadline
	case fold.Over:
		if c.Holding.EndedBy == history.Release {
			n.miss(nearRelease, c.Holding.Deadline-e.Time)
		}
		delete(n.ends, c.Holding)
	}
}

func (n *Nearness) granted(e *history.Event, c fold.Change) {
	for _, h := range c.Over {
		n.miss(nearTakeover, e.Time-h.Deadline)
		delete(n.ends, h)
	}
	if since, ok := n.unknown[e.Key]; ok {
		n.miss(nearUnknown, e.Time-since)
		delete(n.unknown, e.Key)
	}
	n.ends[c.Holding] = c.Holding.Deadline
}

// miss notes a near miss, if it is nearer than those before. What is below zero is
// no miss.
func (n *Nearness) miss(name string, d time.Duration) {
	share := float64(d) / float64(n.ttl)
	if best, known := n.best[name]; d > 0 && n.ttl > 0 && (!known || share < best) {
		n.best[name] = share
	}
}

// Misses are the nearest of each kind, and the key that was left behind for longest.
func (n *Nearness) Misses(left time.Duration) map[string]float64 {
	all := maps.Clone(n.best)
	if left > 0 {
		all[nearLeft] = 1 / left.Seconds()
	}
	return all
}
