package checker

import (
	"fmt"
	"maps"
	"slices"

	"locktorture/checker/anomaly"
	"locktorture/workload/history"
)

// evidence counts what a verdict rests on.
type evidence struct {
	j *Judge
	Evidence
	stands int // grants without a promised deadline
}

func (*evidence) ids() []string { return []string{"V1"} }
func (*evidence) wants() []what {
	return []what{asked, refused, granted, reentered, rejected, unknown, settled}
}

func (v *evidence) see(f *fact) {
	switch f.what {
	case asked:
		if f.op.what == history.Acquire && f.key.heldAgainst(f.op) {
			f.op.contended = true
			v.Contended++
		}
	case refused:
		if !f.op.contended {
			v.Contended++
		}
	case granted:
		v.grant(f)
	case reentered:
		v.Grants++
	case rejected:
		if !v.j.wronged(f.op) {
			v.FenceSaves++
		}
	case unknown:
		v.Unknown++
	case settled:
		v.Resolved++
		if f.op.settled == byLink {
			v.ByReceipts++
		}
	}
}

// heldAgainst says whether an acquire meets another owner's hold: one that is
// definite, or whose lease has run out without having been given up.
func (k *key) heldAgainst(o *op) bool {
	if g := k.last; g != nil && g.holder != o.holder && g.rel == never && !g.reportedLost() {
		return true
	}
	for _, g := range k.held {
		if g.holder != o.holder && g.ok <= o.inv && g.end() > o.inv {
			return true
		}
	}
	return k.lasts() > o.inv
}

func (v *evidence) grant(f *fact) {
	v.Grants++
	if f.grant.stands {
		v.stands++
	}
	before := f.key.last
	if before == nil || before.holder == f.grant.holder {
		return
	}
	v.Handovers++
	if v.j.nemesis.since(before.ok) {
		v.FaultedHandovers++
	}
	if before.end() == before.d && v.j.test.expired(before.d, f.grant.ok) {
		v.Takeovers++
	}
}

func (*evidence) finish() {}

// floors names the kinds of evidence that a header may demand.
func (v *Evidence) floors() map[string]int {
	return map[string]int{
		"grants": v.Grants, "contended": v.Contended, "handovers": v.Handovers,
		"faulted_handovers": v.FaultedHandovers, "takeovers": v.Takeovers, "fence_saves": v.FenceSaves,
		"unknown": v.Unknown, "resolved": v.Resolved,
	}
}

// short lists the floors that the evidence does not reach (V1). Whatever they
// are, a history without a grant shows nothing.
func (v *evidence) short() []Finding {
	demand := map[string]int{"grants": 1}
	for what, n := range v.j.h.Floors {
		demand[what] = max(demand[what], n)
	}
	have := v.floors()
	var out []Finding
	for _, what := range slices.Sorted(maps.Keys(demand)) {
		n, known := have[what]
		switch {
		case what == rateFloor: // judged with the lag
			continue
		case !known:
			out = append(out, shortOf("The scenario demands %q, which this judge cannot count.", what))
		case n < demand[what]:
			out = append(out, shortOf("The scenario demands at least %d %s, and this history has %d.", demand[what], words(what), n))
		}
	}
	return out
}

func shortOf(format string, a ...any) Finding {
	return Finding{ID: "V1", Name: anomaly.Name("V1"), Text: fmt.Sprintf(format, a...)}
}

func words(floor string) string {
	switch floor {
	case "contended":
		return "contended attempts"
	case "handovers":
		return "hand-overs"
	case "faulted_handovers":
		return "hand-overs with a fault in force"
	case "fence_saves":
		return "stale writes fenced off"
	case "unknown":
		return "operations of unknown outcome"
	case "resolved":
		return "unknown outcomes settled"
	}
	return floor
}
