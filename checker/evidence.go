package checker

import (
	"fmt"
	"maps"
	"slices"

	"locktorture/checker/anomaly"
	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
)

// An evidence counts the facts on which a verdict rests.
type evidence struct {
	j *rule.Env
	Evidence
	stands int // grants without a promised deadline
}

func (*evidence) IDs() []string { return []string{"V1"} }
func (*evidence) Wants() []ledger.Kind {
	return []ledger.Kind{ledger.Asked, ledger.Refused, ledger.Granted, ledger.Reentered, ledger.Rejected, ledger.Unknown, ledger.Settled}
}

func (v *evidence) Observe(f *ledger.Fact) {
	switch f.Kind {
	case ledger.Asked:
		if f.Op.Contended {
			v.Contended++
		}
	case ledger.Refused:
		if !f.Op.Contended {
			v.Contended++
		}
	case ledger.Granted:
		v.grant(f)
	case ledger.Reentered:
		v.Grants++
	case ledger.Rejected:
		if v.j.Saves(f.Op) {
			v.FenceSaves++
		}
	case ledger.Unknown:
		v.Unknown++
	case ledger.Settled:
		v.Resolved++
		if f.Op.Settled == ledger.ByLink {
			v.ByReceipts++
		}
	}
}

func (v *evidence) grant(f *ledger.Fact) {
	v.Grants++
	if f.Grant.Assumed {
		v.stands++
	}
	before := f.Key.Last
	if before == nil || before.Holder == f.Grant.Holder {
		return
	}
	v.Handovers++
	if v.j.Nemesis.Since(before.OK) {
		v.FaultedHandovers++
	}
	if before.End() == before.Deadline && before.Deadline <= f.Grant.OK {
		v.Takeovers++
	}
}

func (*evidence) Finish() {}

// floors names the kinds of evidence that a header may demand.
func (v *Evidence) floors() map[string]int {
	return map[string]int{
		"grants": v.Grants, "contended": v.Contended, "handovers": v.Handovers,
		"faulted_handovers": v.FaultedHandovers, "takeovers": v.Takeovers, "fence_saves": v.FenceSaves,
		"unknown": v.Unknown, "resolved": v.Resolved, cellsFloor: v.Cells,
	}
}

// cellsFloor demands that so many cells of phase × class of faults were met.
const cellsFloor = "cells"

// short lists the floors that the evidence does not reach (V1). Whatever they
// are, a history without a grant shows nothing.
func (v *evidence) short() []Finding {
	demand := map[string]int{"grants": 1}
	for what, n := range v.j.Header.Floors {
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
			out = append(out, shortOf("The scenario demands at least %d %s, and this history has %d.", demand[what], floorWords(what), n))
		}
	}
	return out
}

func shortOf(format string, a ...any) Finding {
	return Finding{ID: "V1", Name: anomaly.Name("V1"), Text: fmt.Sprintf(format, a...)}
}

func floorWords(floor string) string {
	switch floor {
	case "contended":
		return "contended attempts"
	case "handovers":
		return "hand-overs"
	case "faulted_handovers":
		return "hand-overs with a fault in force"
	case cellsFloor:
		return "cells covered (phase × fault class)"
	case "fence_saves":
		return "stale writes fenced off"
	case "unknown":
		return "operations of unknown outcome"
	case "resolved":
		return "unknown outcomes settled"
	}
	return floor
}
