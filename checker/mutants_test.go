package checker

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// A mutant is the contract with one comparison broken, and the case that
// tells.
type mutant struct {
	name   string
	broken func(c *tests)
	killer string
}

type d = time.Duration

var mutants = []mutant{
	{"deadline from the answer", func(c *tests) { c.deadline = func(o *op, ttl, drift d) d { return o.ok + ttl - drift } }, "the deadline stands in for a promise"},
	{"deadline without drift", func(c *tests) { c.deadline = func(o *op, ttl, _ d) d { return o.inv + ttl } }, "the deadline stands in for a promise"},
	{"overlap of just epsilon", func(c *tests) { c.overlaps = func(l, eps d) bool { return l >= eps } }, "an overlap within the clocks' uncertainty"},
	{"overlap without epsilon", func(c *tests) { c.overlaps = func(l, _ d) bool { return l > 0 } }, "an overlap within the clocks' uncertainty"},
	{"precedes at the same instant", func(c *tests) { c.precedes = func(ok, inv, eps d) bool { return ok+eps <= inv } }, "asked in the very instant of the answer"},
	{"precedes without epsilon", func(c *tests) { c.precedes = func(ok, inv, _ d) bool { return ok < inv } }, "asked within the clocks' uncertainty"},
	{"equal tokens in order", func(c *tests) { c.outOfOrder = func(later, earlier uint64) bool { return later < earlier } }, "the same token once more"},
	{"equal tokens stale", func(c *tests) { c.stale = func(f, top uint64) bool { return f <= top } }, "the same token twice"},
	{"zombie at the deadline", func(c *tests) { c.zombie = func(t, end, eps d) bool { return t >= end+eps } }, "issued at the deadline"},
	{"zombie without epsilon", func(c *tests) { c.zombie = func(t, end, _ d) bool { return t > end } }, "within the clocks' uncertainty"},
	{"nothing is borderline", func(c *tests) { c.borderline = func(_, _, _ d) bool { return false } }, "issued at the deadline"},
	{"borderline without epsilon", func(c *tests) { c.borderline = func(t, end, _ d) bool { return t == end } }, "within the clocks' uncertainty"},
	{"after at the very end", func(c *tests) { c.after = func(t, end, eps d) bool { return t >= end+eps } }, "in the instant of the release"},
	{"after without epsilon", func(c *tests) { c.after = func(t, end, _ d) bool { return t > end } }, "after the release, within the clocks' uncertainty"},
	{"stillborn only beyond the deadline", func(c *tests) { c.stillborn = func(ok, end d) bool { return ok > end } }, "answered at its deadline"},
	{"scarce at a hundredth", func(c *tests) { c.scarce = func(left, ttl d) bool { return left*100 <= ttl } }, "answered with a hundredth left"},
	{"late only beyond the deadline", func(c *tests) { c.late = func(inv, end d) bool { return inv > end } }, "late by nothing"},
	{"inside at the very end", func(c *tests) { c.inside = func(ok, end d) bool { return ok <= end } }, "a third grant after the victim's hold"},
	{"early at the deadline", func(c *tests) { c.early = func(ok, end, eps d) bool { return ok <= end-eps } }, "after a reported loss, at the deadline"},
	{"early without epsilon", func(c *tests) { c.early = func(ok, end, _ d) bool { return ok < end } }, "after a reported loss, within the clocks' uncertainty of the deadline"},
	{"late loss at the bound", func(c *tests) { c.lateLoss = func(t, gone, bound, eps d) bool { return t >= gone+bound+eps } }, "told in time"},
	{"late loss without bound", func(c *tests) { c.lateLoss = func(t, gone, _, eps d) bool { return t > gone+eps } }, "told in time"},
	{"late loss without epsilon", func(c *tests) { c.lateLoss = func(t, gone, bound, _ d) bool { return t > gone+bound } }, "told within the clocks' uncertainty"},
	{"between whatever the order", func(c *tests) { c.between = func(_, _ uint64) bool { return true } }, "another's write before both"},
	{"never between", func(c *tests) { c.between = func(_, _ uint64) bool { return false } }, "another's write between two"},
	{"expired only beyond the deadline", func(c *tests) { c.expired = func(end, ok d) bool { return end < ok } }, "taken over in the instant of the deadline"},
	{"a quorum and one more", func(c *tests) { c.subQuorum = func(stored, quorum int) bool { return stored <= quorum } }, "without an expiry"},
	{"overstays at the TTL", func(c *tests) { c.overstays = func(left, ttl d) bool { return left >= ttl } }, "as long as asked for"},
	{"waited the bound", func(c *tests) { c.waitedBeyond = func(wait, bound d) bool { return wait >= bound } }, "just not too long"},
}

// TestMutants breaks every comparison of the contract in turn: a case of the
// tables must come out differently, and the named one does.
func TestMutants(t *testing.T) {
	cases := everyCase()
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			broken := contract
			m.broken(&broken)
			var killers []string
			for _, c := range cases {
				if c.differs(t, broken) {
					killers = append(killers, c.name)
				}
			}
			if !slices.Contains(killers, m.killer) {
				t.Errorf("%q does not tell; these do: %q", m.killer, killers)
			}
		})
	}
}

// differs judges a case by broken rules.
func (c boundCase) differs(t *testing.T, broken tests) bool {
	h := parse(t, c.header, c.history)
	h.Header.Bounds = c.bounds
	j := New(h.Header, Options{})
	j.test = broken
	for i := range h.Events {
		j.Event(&h.Events[i])
	}
	r := j.Finish(t.Context(), false)
	return r.Verdict != c.want || fmt.Sprint(short(r.Violations), short(r.Suspicious), short(r.Breaches)) != fmt.Sprint(c.violations, c.suspicious, c.breaches) ||
		c.evidence != nil && *c.evidence != r.Evidence
}

// everyCase is all cases of all tables, under unique names.
func everyCase() []boundCase {
	out := slices.Concat(orphanCases(), noProgressCases(), serviceCases(), lossesCases())
	for _, table := range [][]verdictCase{
		doubleGrantCases(), sharedHoldsCases(), reentryCases(), earlyTakeoverCases(), tokenOrderCases(), staleWritesCases(), zombiesCases(), unconfirmedUseCases(), sectionsCases(), foreignReleaseCases(), acrossALossCases(), stillbornCases(), leftoversCases(), effectlessCases(), effectlessSeenCases(), subQuorumCases(), watchedReleaseCases(), auditedSectionsCases(),
	} {
		for _, c := range table {
			out = append(out, boundCase{verdictCase: c})
		}
	}
	return out
}
