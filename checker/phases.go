package checker

import (
	"slices"
	"strings"
	"time"

	"locktorture/checker/anomaly"
	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// rateFloor is the floor on grants per second; missing it voids timing rules
// as a lagging harness does (V4).
const rateFloor = "rate"

// phases judges what the harness reports about itself: V3, V4, V6, V7.
type phases struct {
	j       *Judge
	lag     time.Duration // the worst
	lagIdx  int
	missed  rule.Listing // canary, clean start
	wanted  []string     // moments that the run must reach
	reached map[string]bool
}

// Moments of the sometimes set that the judge sees by itself.
const (
	momentExpiry    = "expiry-while-held"
	momentTakeover  = "takeover"
	momentStale     = "stale-write"
	momentExtension = "extension"
	momentMinority  = "minority-acquire"
	momentUnknown   = "unknown"
)

// Moments are those that a scenario can demand to be reached (V3), sorted.
func Moments() []string {
	return []string{momentExpiry, momentExtension, momentMinority, momentStale, momentTakeover, momentUnknown}
}

func (*phases) IDs() []string { return []string{"V3", "V4", "V6", "V7"} }
func (*phases) Wants() []ledger.Kind {
	return []ledger.Kind{ledger.Phased, ledger.Granted, ledger.Rejected, ledger.Extended, ledger.Unknown, ledger.Refused}
}
func (*phases) Finish() {}

func (p *phases) Observe(f *ledger.Fact) {
	switch f.Kind {
	case ledger.Phased:
		p.phase(f.Event)
	case ledger.Granted:
		if b := f.Key.Last; b != nil && b.ReleasedAt == ledger.Never && b.Deadline <= f.Grant.OK {
			p.reach(momentExpiry)
			if b.Holder != f.Grant.Holder {
				p.reach(momentTakeover)
			}
		}
	case ledger.Rejected:
		p.reach(momentStale)
	case ledger.Extended:
		p.reach(momentExtension)
	case ledger.Unknown:
		if p.j.env.Nemesis.Since(f.Op.Inv) {
			p.reach(momentUnknown)
		}
	case ledger.Refused:
		if strings.Contains(f.Event.Err, "quorum") {
			p.reach(momentMinority)
		}
	}
}

func (p *phases) reach(moment string) {
	if p.reached[moment] {
		return
	}
	if p.reached == nil {
		p.reached = make(map[string]bool)
	}
	p.reached[moment] = true
}

func (p *phases) phase(e *history.Event) {
	if e.HasAll(history.HasLag) && e.Lag > p.lag {
		p.lag, p.lagIdx = e.Lag, e.Index
	}
	if text, is := strings.CutPrefix(e.Note, history.HarnessNote); is {
		p.j.mishap(e, text)
		return
	}
	if text, is := strings.CutPrefix(e.Note, history.LockNote); is {
		p.j.brokeDown(e, text)
		return
	}
	for item := range strings.SplitSeq(e.Note, ";") {
		p.note(e, strings.TrimSpace(item))
	}
}

func (p *phases) note(e *history.Event, item string) {
	word, rest, _ := strings.Cut(item, " ")
	switch strings.TrimSuffix(word, ":") {
	case "canary":
		if strings.HasPrefix(rest, "missed") {
			p.miss("V6", e, "The canary, a mutant with a planted bug run under the same faults, was not caught ("+item+"): this configuration cannot be trusted to show a bug.")
		}
	case "dirty":
		p.miss("V7", e, "The key space was not clean when the run began ("+item+"): leases of another run may have refused or blocked this one's.")
	case "sometimes":
		p.wanted = append(p.wanted, list(rest)...)
	case "reached":
		for _, m := range list(rest) {
			p.reach(m)
		}
	}
}

func (p *phases) miss(id string, e *history.Event, text string) {
	p.missed.Add(id, e.Index, "%s", text)
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// gaps lists what is missing for a verdict by the harness's own reports.
func (p *phases) gaps() []Finding {
	var unreached rule.Listing
	for _, m := range p.wanted {
		if !p.reached[m] {
			unreached.Add("V3", rule.NoWitness, "The run was to reach %q at least once and did not.", m)
		}
	}
	out := slices.Concat(named(p.missed.Remarks()), named(unreached.Remarks()))
	if why := p.lagged(); why != "" {
		out = append(out, Finding{ID: "V4", Name: anomaly.Name("V4"),
			Text: why + " What compares times proves nothing in this run and is listed as suspicious; what compares tokens stands."})
	}
	return out
}

// unproved lists the faults of which nothing proves that they took effect and were
// healed (V2). Those that did nothing at all are told in one line: of a run that ended
// early they are many.
func unproved(n *ledger.Nemesis) []Finding {
	var out rule.Listing
	var idle []*ledger.Fault
	for _, f := range n.Faults {
		why := ""
		switch {
		case f.Outcome == history.Fail:
			idle = append(idle, f)
			continue
		case f.Outcome == 0:
			why = "has no completion: whether it took effect is not known"
		case f.Replaced && f.Healed == history.Info: // the one in its place counts
			continue
		case f.Outcome == history.Info && f.Healed != history.OK:
			why = "has no receipt that it took effect"
		case !f.Instant && f.Healed != history.OK:
			why = "was not healed"
		default:
			continue
		}
		out.Add("V2", f.Idx, "The fault %s %s, so what this run says about it is not known.", f, why)
	}
	switch len(idle) {
	case 0:
	case 1:
		out.Add("V2", idle[0].Idx, "The fault %s did nothing, so what this run says about it is not known.", idle[0])
	default:
		out.Add("V2", idle[0].Idx, "%s faults did nothing, the first of them %s, so what this run says about them is not known.", words.Thousands(len(idle)), idle[0])
	}
	return named(out.Remarks())
}
