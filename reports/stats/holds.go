package stats

import (
	"slices"
	"time"

	"locktorture/workload/history"
	"locktorture/workload/history/fold"
)

// holds measures how close holders come to the end of their leases.
type holds struct {
	who    *fold.Holdings
	ends   map[string]holdEnd // by key
	margin margins
}

// A holdEnd is when the last hold of a key that is over ended, and whose it was.
type holdEnd struct {
	at    time.Duration
	owner string
}

// event takes the next event, and returns the operation that it begins or completes.
func (h *holds) event(e *history.Event) fold.Operation {
	c := h.who.Event(e)
	switch c.Step {
	case fold.Granted:
		h.granted(c, e.Time)
	case fold.Over:
		h.over(c.Holding, min(e.Time, c.Holding.Deadline))
		h.margin.finish(c.Holding)
	}
	return c.Operation
}

// granted measures the gap to the holds before, those that still last included.
func (h *holds) granted(c fold.Change, now time.Duration) {
	for _, one := range slices.Concat(c.Over, h.who.Of(c.Holding.Key)) {
		both := one.Mode == history.Shared && c.Holding.Mode == history.Shared
		if one.Owner != c.Holding.Owner && (one.Deadline <= now || !both) {
			h.over(one, one.Deadline)
		}
	}
	for _, one := range c.Over {
		h.margin.finish(one)
	}
	if last, any := h.ends[c.Holding.Key]; any && last.owner != c.Holding.Owner {
		h.margin.gap.add(now - last.at)
	}
}

// over notes the end of a hold, unless a later one is known.
func (h *holds) over(one *fold.Holding, at time.Duration) {
	if last, any := h.ends[one.Key]; !any || at > last.at {
		h.ends[one.Key] = holdEnd{at, one.Owner}
	}
}
