package capacity

import (
	"fmt"

	"locktorture/reports/unit"
)

// Advise writes the recommendation as a planner would: cause, number, interval,
// next step.
func (r *Report) Advise() {
	r.Advice = nil
	say := func(format string, args ...any) { r.Advice = append(r.Advice, fmt.Sprintf(format, args...)) }
	s := r.Setup
	discarded := fmt.Sprintf("%d of %d points were discarded, since the load generator lagged or other programs used the processors", r.Discarded, len(r.Points))
	switch {
	case r.Arrivals != nil:
		r.Advice = append(r.Advice, r.traceAdvice(discarded)...)
	case r.Recommended.Known():
		say("Plan for up to %s (acquire and release, over %d keys held for %s): %s of the %s at which the objectives are just met; with %s confidence that limit lies between %s and %s (%d repeats).",
			unit.Rate(r.Recommended.Value), s.Keys, unit.Setting(s.Hold), unit.Percent(Headroom), unit.Rate(r.Limit.Value),
			unit.Percent(r.Limit.Confidence), unit.Rate(r.Limit.Low), unit.Rate(r.Limit.High), r.Limit.N)
	case len(r.Missing) > 0:
		say("No rate can be recommended: the measurement was interrupted before it had found the limit.")
	default:
		say("No rate can be recommended: %s. %s.", r.Limit.Suppressed, upper(discarded))
	}
	say("What limits it: %s. %s. Next step: %s.", r.Bottleneck.Name, upper(r.Bottleneck.Cause), r.Bottleneck.Next)
	if hot := r.Hot.Measured; hot.Known() && s.Hold > 0 {
		say("One key carried %s here at a hold of %s; whatever the servers, it carries less than %s (1/hold). A job that needs more of one key must hold it for less time or split it.",
			formatEstimate(hot, unit.Rate), unit.Setting(s.Hold), unit.Rate(1/s.Hold.Seconds()))
	}
	if r.Lease.TTL.Known() {
		need, n := r.Lease.TTL.Value, r.Lease.TTL.N
		if need > s.TTL.Seconds() {
			say("The TTL of %s is too short for the pauses seen in %d repeats: choose at least %.2g s.", unit.Setting(s.TTL), n, need)
		} else {
			say("The TTL of %s covers what was seen in %d repeats (%.2g s would do); a shorter one frees a crashed holder's key sooner.", unit.Setting(s.TTL), n, need)
		}
	}
	if r.Recovery.Back.Known() {
		say("If a majority is lost for %s at %s, about %s requests wait when it is back, and the objective is met again after %.2g s [%.2g, %.2g]: alarms and client time-outs should allow for that.",
			unit.Setting(r.Recovery.Outage), unit.Rate(r.Recovery.Rate), unit.Number(r.Recovery.Backlog.Value), r.Recovery.Back.Value, r.Recovery.Back.Low, r.Recovery.Back.High)
	}
}

func upper(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
