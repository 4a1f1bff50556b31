package rule

import (
	"slices"

	"locktorture/checker/internal/ledger"
)

// suspicions is how many suspicious findings of an id are kept.
const suspicions = 5

// A collector collects the findings of all rules.
type collector struct {
	of          *ledger.Ledger
	Violations  List
	Suspicious  List
	OnViolation []func(*Candidate)
	OnMore      func(id string, n int64)
	waiting     withheld
}

// Violate records a violation.
func (c *collector) Violate(h *Candidate) {
	c.Violations.Add(h)
	for _, see := range c.OnViolation {
		see(h)
	}
}

// Suspect records a finding that the clocks, or what was not recorded, leave open.
func (c *collector) Suspect(h *Candidate) { c.Suspicious.Add(h) }

// More counts n violations of id beyond those that are listed.
func (c *collector) More(id string, n int) {
	if n > 0 {
		if c.Violations.Total == nil {
			c.Violations.Total = make(map[string]int)
		}
		c.Violations.Total[id] += n
		c.OnMore(id, int64(n))
	}
}

// Room says whether more violations of id are listed.
func (c *collector) Room(id string) bool { return c.Violations.Total[id] < c.Violations.limit }

// Limit is how many violations of an id are listed.
func (c *collector) Limit() int { return c.Violations.limit }

// Proved says whether h, which was a violation when it was found, is not refuted so far.
func (c *collector) Proved(h *Candidate) bool {
	return h.Refuted == nil || !h.Refuted()
}

// Listed says whether a violation of id on k is among those kept, and not refuted so far.
func (c *collector) Listed(id string, k *ledger.Key) bool {
	return slices.ContainsFunc(c.Violations.Kept, func(h *Candidate) bool { return h.ID == id && h.Key == k && c.Proved(h) })
}

// Withhold keeps h, which stands only if a release turns out never to have been sent, until
// that is known; release is its invocation.
func (c *collector) Withhold(release int, h *Candidate) { c.waiting.add(release, h) }
