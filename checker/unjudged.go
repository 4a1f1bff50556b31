package checker

import (
	"slices"

	"locktorture/checker/internal/ledger"
	"locktorture/workload/history"
)

// nothing lists the properties that had nothing to judge in this history, so that finding no
// violation of them means nothing.
func (j *Judge) nothing() []string {
	seen, h := func(w ledger.Kind) bool { return j.env.Happened[w] }, j.env.Header
	bounded := func(name string) bool { _, ok := h.Bounds[name]; return ok }
	wrote, final := seen(ledger.Landed), j.env.Final && j.env.Alone
	tokens := j.tokens()
	had := map[string]bool{
		"S1": j.ev.Handovers > 0, "S2": wrote && h.Fenced && tokens, "S3": wrote, "S3z": wrote, "S4": tokens, "S4b": tokens,
		"S5": seen(ledger.Answered), "S6": seen(ledger.Extended) || seen(ledger.Answered) && ledger.CheckedRelease(h), "S7": seen(ledger.Granted), "S8": wrote,
		"S9": seen(ledger.Witnessed) || seen(ledger.Receipt), "S10": j.env.Nemesis.Forgot(0, j.env.Now) || seen(ledger.Witnessed), "S11": seen(ledger.Lost),
		"L1": final, "L2": final, "L7": final && h.Quorum > 1, "L3": bounded(history.BoundWait), "L4": bounded(history.BoundRecovery), "L6": bounded(history.BoundAvailability),
		"L5": (seen(ledger.Lost) || seen(ledger.Extended) || seen(ledger.Answered)) && j.env.Phased, "L8": seen(ledger.Witnessed), "L9": seen(ledger.Answered) && (seen(ledger.Refused) || seen(ledger.Witnessed)),
		"R1": seen(ledger.Audited), "R2": seen(ledger.Audited), "R3": wrote || seen(ledger.Rejected), "R4": seen(ledger.Rejected) && h.Fenced, "R5": wrote && tokens,
	}
	var out []string
	for id, judged := range had {
		if !judged {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// tokens says whether anybody was given one.
func (j *Judge) tokens() bool {
	return slices.ContainsFunc(j.env.SortedKeys(), func(k *ledger.Key) bool { return k.Newest > 0 })
}

// unsaid adds to a report notes about what it does not prove; most of them where there is no
// violation.
func (j *Judge) unsaid(r *Report) {
	if j.env.Header.Fenced && j.env.Happened[ledger.Granted] && !j.tokens() {
		r.Notes = append(r.Notes, "The store compares tokens, and no grant bore one: no stale write could be rejected. A lock without tokens is judged as such in a run with --fenced=false.")
	}
	if r.Verdict == Fail {
		return
	}
	r.Nothing = j.nothing()
	if !j.env.Final {
		r.Notes = append(r.Notes, "Liveness was not judged: the history tells of no final phase, in which every fault is healed. A lock that is never given back would not show.")
	}
}
