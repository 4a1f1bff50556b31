package checker

import (
	"slices"
	"strings"
	"time"

	"locktorture/checker/anomaly"
	"locktorture/workload/history"
)

// rateFloor is the floor on grants per second; missing it voids timing rules
// as a lagging harness does (V4).
const rateFloor = "rate"

// phases reads what the harness says of itself: V3, V4, V6, V7.
type phases struct {
	j       *Judge
	lag     time.Duration // the worst
	lagIdx  int
	missed  listing  // canary, clean start
	wanted  []string // moments that the run must reach
	reached map[string]bool
	told    bool // the history says which phase it is in, and so which faults are in force
	final   bool
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

func (*phases) ids() []string { return []string{"V3", "V4", "V6", "V7"} }
func (*phases) wants() []what { return []what{phased, granted, rejected, extended, unknown, refused} }
func (*phases) finish()       {}

func (p *phases) see(f *fact) {
	switch f.what {
	case phased:
		p.phase(f.e)
	case granted:
		if b := f.key.last; b != nil && b.rel == never && b.d <= f.grant.ok {
			p.reach(momentExpiry)
			if b.holder != f.grant.holder {
				p.reach(momentTakeover)
			}
		}
	case rejected:
		p.reach(momentStale)
	case extended:
		p.reach(momentExtension)
	case unknown:
		if p.j.nemesis.since(f.op.inv) {
			p.reach(momentUnknown)
		}
	case refused:
		if strings.Contains(f.e.Err, "quorum") {
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
	p.told = p.told || e.Value == history.PhaseWarmup || e.Value == history.PhaseMain || e.Value == history.PhaseFinal
	p.final = p.final || e.Value == history.PhaseFinal
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
	p.missed.add(id, e.Index, "%s", text)
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// gaps lists what the phases leave inconclusive.
func (p *phases) gaps() []Finding {
	var unreached listing
	for _, m := range p.wanted {
		if !p.reached[m] {
			unreached.add("V3", noWitness, "The run was to reach %q at least once and did not.", m)
		}
	}
	out := slices.Concat(p.missed.findings(), unreached.findings())
	if why := p.lagged(); why != "" {
		out = append(out, Finding{ID: "V4", Name: anomaly.Name("V4"),
			Text: why + " What compares times proves nothing in this run and is listed as suspicious; what compares tokens stands."})
	}
	return out
}
