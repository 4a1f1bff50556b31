package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"locktorture/checker/anomaly"
	"locktorture/checker/internal/words"
	"locktorture/workload/history/printable"
)

// A Void names anomalies whose absence from a report means nothing, and why.
type Void struct {
	IDs []string `json:"ids"`
	Why string   `json:"why"` // goes on a line, after a colon
}

// void makes violations of timing rules suspicious when times mean nothing, and
// says what is not decided by that, or by what befell the run.
func (j *Judge) void(r *Report) {
	if from, harmed := j.harmed(); harmed {
		r.Void = append(r.Void, Void{IDs: anomaly.With(anomaly.NeedsHealth), Why: fmt.Sprintf("the run came to harm at %s", words.At(from))})
	}
	r.Void = append(r.Void, j.apart()...)
	if j.phases.lagged() == "" {
		return
	}
	r.Void = append(r.Void, Void{IDs: anomaly.With(anomaly.ComparesTimes), Why: "the harness was too slow for its times to prove anything (V4)"})
	r.Violations = slices.DeleteFunc(r.Violations, func(f Finding) bool {
		timed := anomaly.Has(f.ID, anomaly.ComparesTimes)
		if timed {
			r.Suspicious = append(r.Suspicious, f)
		}
		return timed
	})
	slices.SortStableFunc(r.Suspicious, compareFindings)
}

// tellingClocks is the share of a TTL beyond which the bound of a host's clock leaves too
// little of a lease to be judged by time.
const tellingClocks = 10

// apart says of which hosts' clocks too little is known for what they stamped to be
// compared by time with what others did. Each alone is judged, and so is what needs no
// clock.
func (j *Judge) apart() (all []Void) {
	ttl := j.env.Header.TTL
	for _, host := range slices.Sorted(maps.Keys(j.env.Header.Hosts)) {
		if eps := j.env.Header.Hosts[host].Epsilon; eps > ttl/tellingClocks && len(j.env.Header.Hosts) > 1 {
			all = append(all, Void{IDs: anomaly.With(anomaly.ComparesTimes), Why: fmt.Sprintf(
				"between what host %s stamped and what others did: its clock is known to ±%s only, more than a tenth of the TTL of %s", printable.Line(host), words.Span(eps), words.Span(ttl))})
		}
	}
	return all
}

// harmed is since when at the earliest something had befallen the run.
func (j *Judge) harmed() (from time.Duration, harmed bool) {
	if len(j.mishaps) == 0 {
		return 0, false
	}
	return slices.MinFunc(j.mishaps, func(a, b mishap) int { return cmp.Compare(a.from, b.from) }).from, true
}

// lagged says why the timing rules are void, or "". Where the history tells of
// the intervals in which the harness stood still, each finding has been widened
// by those that it crosses: its lag voids the rules only when they are most of the
// run, so that nothing is left to judge, or do not explain it.
func (p *phases) lagged() string {
	ttl, stood := p.j.env.Header.TTL, p.j.env.Stalls.Within(0, p.j.env.Now)
	if p.lag > 0 && p.lag > ttl/10 {
		text := fmt.Sprintf("The harness's own scheduling lag reached %s (99th percentile), more than a tenth of the TTL of %s", words.Span(p.lag), words.Span(ttl))
		switch {
		case p.j.env.Stalls.Longest() < ttl/10:
			return text + ", and the history does not tell when."
		case stood > p.j.env.Now/2:
			return text + fmt.Sprintf(", and it stood still for %s of %s.", words.Span(stood), words.Span(p.j.env.Now))
		}
	}
	if want, ok := p.j.env.Header.Floors[rateFloor]; ok && p.j.env.Now > 0 {
		if got := float64(p.j.ev.Grants) / p.j.env.Now.Seconds(); got < float64(want) {
			return fmt.Sprintf("The load reached %.1f grants a second, below the floor of %d.", got, want)
		}
	}
	return ""
}
