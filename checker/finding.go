package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"locktorture/checker/anomaly"
	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
)

// findings turns the candidates that were kept into findings, ordered by first witness, id and
// the rest of the witness; with their remedies if remedied.
func findings(h *rule.List, n *ledger.Nemesis, remedied bool) []Finding {
	out := make([]Finding, 0, len(h.Kept))
	for _, x := range h.Kept {
		f := findingOf(x)
		if a, _ := anomaly.Find(x.ID); remedied {
			f.Remedy = cmp.Or(x.Remedy, a.Remedy)
		}
		f.Text = f.paragraph(n.Story(x.From, x.To))
		f.Breakers = n.Breakers(x.From, x.To)
		out = append(out, f)
	}
	slices.SortStableFunc(out, compareFindings)
	return out
}

func compareFindings(a, b Finding) int {
	if len(a.Witness) > 0 && len(b.Witness) > 0 && a.Witness[0] != b.Witness[0] {
		return a.Witness[0] - b.Witness[0]
	}
	if a.ID != b.ID {
		return strings.Compare(a.ID, b.ID)
	}
	return slices.Compare(a.Witness, b.Witness)
}

func findingOf(x *rule.Candidate) Finding {
	f := Finding{ID: x.ID, Name: anomaly.Name(x.ID), Owners: x.Owners, Witness: x.Witness, Blame: x.Blame, What: textOf(x)}
	if x.Key != nil {
		f.Key = x.Key.Name
	}
	return f
}

// paragraph is the whole text of f: what happened, the remedy, and which faults were in force
// (meanwhile).
func (f *Finding) paragraph(meanwhile string) string {
	text := f.What
	if f.Remedy != "" {
		text += " Remedy: " + f.Remedy
	}
	if meanwhile != "" {
		text += " " + meanwhile
	}
	return text
}

// textOf writes the finding's text. Where writing it panics, the finding is reported all the
// same, with a text that names its events.
func textOf(x *rule.Candidate) (s string) {
	defer func() {
		if r := recover(); r != nil {
			s = fmt.Sprintf("%s by %s: see events %v. (Its story could not be told: %v.)", anomaly.Name(x.ID), strings.Join(x.Owners, ", "), x.Witness, r)
		}
	}()
	return x.Text()
}

// named turns remarks into findings.
func named(remarks []rule.Remark) (out []Finding) {
	for _, r := range remarks {
		out = append(out, Finding{ID: r.ID, Name: anomaly.Name(r.ID), Key: r.Key, Witness: r.Witness, Text: r.Text})
	}
	return out
}
