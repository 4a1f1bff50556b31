package stats

import (
	"cmp"
	"slices"
	"time"

	"locktorture/workload/history"
)

// A Summary is everything that was measured. Its JSON form is part of
// results.json; histograms and windows are rebuilt from the history.
type Summary struct {
	Events   int           `json:"events"`
	Duration time.Duration `json:"duration_ns"`  // to the last event
	From     time.Duration `json:"main_from_ns"` // the main phase, whose figures these are
	To       time.Duration `json:"main_to_ns"`
	Complete bool          `json:"complete"` // the history has its end
	Outcomes Outcomes      `json:"outcomes"`
	Total    Outcomes      `json:"total"`            // of the whole run, warm-up and final phase included
	Errors   []Error       `json:"errors,omitempty"` // of the whole run, the most frequent first
	Latency  []Latency     `json:"latency"`
	Faults   []Fault       `json:"faults"`
	Gaps     []Gap         `json:"gaps"` // the longest stretches without a grant, longest first
	Fairness Fairness      `json:"fairness"`
	Margin   Margin        `json:"margin"`
	Lag      Quantiles     `json:"lag"`
	Dropped  int64         `json:"dropped"`

	Demand   history.Demand `json:"demand"`   // what became of the demand of the main phase
	Response Response       `json:"response"` // of all that was asked for, served or not
	Width    time.Duration  `json:"window_ns"`

	Windows []Window `json:"-"`

	hists histograms
}

// A Latency sums up one series over one phase, or over all of them.
type Latency struct {
	Series Series `json:"series"`
	Phase  string `json:"phase"` // "all", or a Phase's name
	Quantiles
}

// All names the phases taken together.
const All = "all"

// Hist returns the histogram of s in p, nil when nothing was recorded.
func (s *Summary) Hist(name Series, p Phase) *Hist {
	if byPhase := s.hists[name]; byPhase != nil {
		return byPhase[p]
	}
	return nil
}

// HistAll returns the histogram of s over all phases, nil when nothing was
// recorded.
func (s *Summary) HistAll(name Series) *Hist { return s.hists.all(name) }

// Find returns the quantiles of a series in a phase ("all" for every one).
func (s *Summary) Find(name Series, phase string) Quantiles {
	for _, l := range s.Latency {
		if l.Series == name && l.Phase == phase {
			return l.Quantiles
		}
	}
	return Quantiles{}
}

// Measured is how long the main phase lasted.
func (s *Summary) Measured() time.Duration { return s.To - s.From }

// GrantsPerSecond is the rate of grants in the main phase.
func (s *Summary) GrantsPerSecond() float64 { return s.perSecond(s.Outcomes.Acquired) }

// AttemptsPerSecond is the rate of acquire attempts in the main phase.
func (s *Summary) AttemptsPerSecond() float64 { return s.perSecond(s.Outcomes.Attempts()) }

func (s *Summary) perSecond(n int64) float64 {
	if s.Measured() <= 0 {
		return 0
	}
	return float64(n) / s.Measured().Seconds()
}

// Summary sums up what was seen so far. It shares nothing with s.
func (s *Stats) Summary() *Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &Summary{
		Events: s.events, Duration: s.now, From: s.mainFrom, To: s.mainEnd(), Complete: s.complete,
		Outcomes: s.outcomes, Total: s.total, Errors: s.errors.summary(), Fairness: s.clients.summary(), Gaps: s.longestGaps(),
		Margin: s.holds.margin.summary(s.header.Drift), Lag: QuantilesOf(s.load.lag), Dropped: s.load.dropped,
		Faults: s.faults.summary(), hists: s.hists.clone(),
	}
	out.Windows = s.windows.summary(s.now)
	out.Width = s.windows.width
	out.Latency = latencies(out.hists)
	out.Demand = s.load.demand
	out.Response = responseOf(out.hists.all(Acquire), s.load.demand)
	findRecoveries(out)
	return out
}

func (h histograms) clone() histograms {
	out := histograms{}
	for name, byPhase := range h {
		out[name] = new([phases]*Hist)
		for p, one := range byPhase {
			if one != nil {
				out[name][p] = one.Clone()
			}
		}
	}
	return out
}

func latencies(h histograms) []Latency {
	var out []Latency
	for _, name := range AllSeries {
		byPhase := h[name]
		if byPhase == nil {
			continue
		}
		out = append(out, Latency{name, All, QuantilesOf(h.all(name))})
		for _, p := range Phases {
			if byPhase[p] != nil {
				out = append(out, Latency{name, p.String(), QuantilesOf(byPhase[p])})
			}
		}
	}
	return out
}

// mainEnd is where the main phase ended, or has come to.
func (s *Stats) mainEnd() time.Duration {
	if s.mainTo == Never {
		return s.now
	}
	return s.mainTo
}

// longestGaps lists the gaps of the main phase, the one that it ended in
// included.
func (s *Stats) longestGaps() []Gap {
	g := s.gaps
	g.longest = slices.Clone(g.longest)
	if end := s.mainEnd(); end > g.last {
		g.add(Gap{g.last, end})
	}
	slices.SortFunc(g.longest, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(b.Length(), a.Length()), cmp.Compare(a.From, b.From))
	})
	return g.longest
}
