package checker

import "slices"

// nothing lists the properties that had nothing to judge in this history: that
// they found nothing says nothing.
func (j *Judge) nothing() []string {
	seen, h := func(w what) bool { return j.happened[w] }, j.h
	bounded := func(name string) bool { _, ok := h.Bounds[name]; return ok }
	wrote, final := seen(landed), j.phases.final && seen(asked)
	tokens := slices.ContainsFunc(j.sortedKeys(), func(k *key) bool { return k.books.newest > 0 })
	had := map[string]bool{
		"S1": j.ev.Handovers > 0, "S2": wrote && h.Fenced && tokens, "S3": wrote, "S3z": wrote, "S4": tokens, "S4b": tokens,
		"S5": seen(answered), "S6": seen(extended) || seen(answered) && checkedRelease(h), "S7": seen(granted), "S8": wrote,
		"S9": seen(witnessed) || seen(receipt), "S10": j.nemesis.forgot(0, j.now), "S11": seen(lost),
		"L1": final, "L2": final, "L7": final && h.Quorum > 1, "L3": bounded(boundWait), "L4": bounded(boundRecovery), "L6": bounded(boundAvailability),
		"L5": seen(lost) && j.phases.told, "L8": seen(witnessed), "L9": seen(answered) && (seen(refused) || seen(witnessed)),
		"R1": seen(audited), "R2": seen(audited), "R3": wrote || seen(rejected), "R4": seen(rejected) && h.Fenced, "R5": wrote && tokens,
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

// unsaid adds to a report without a violation what it does not say.
func (j *Judge) unsaid(r *Report) {
	if r.Verdict == Fail {
		return
	}
	r.Nothing = j.nothing()
	if !j.phases.final {
		r.Notes = append(r.Notes, "Liveness was not judged: the history tells of no final phase, in which every fault is healed. A lock that is never given back would not show.")
	}
}
