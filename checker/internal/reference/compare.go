package reference

import (
	"fmt"
	"slices"
)

// A Report is what a judge said of a history: by id, the places where it found
// a violation.
type Report map[string][]Finding

// A Finding is one violation as a judge reports it.
type Finding struct {
	Key     string
	Witness []int
}

// Compare holds a report against the claims about the same history. Each line
// of the answer is one disagreement, and begins with the anomaly's id.
func Compare(claims []Claim, report Report) []string {
	var wrong []string
	for _, c := range claims {
		if c.Answer == Violation && !reported(c, report[c.ID]) {
			wrong = append(wrong, fmt.Sprintf("%s not reported on %v: proved by %v", c.ID, c.Keys, c.Proof))
		}
	}
	for _, id := range Judges() {
		for _, f := range report[id] {
			if complaint := unfounded(id, f, claims); complaint != "" {
				wrong = append(wrong, complaint)
			}
		}
	}
	return wrong
}

func reported(c Claim, findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return slices.Contains(c.Keys, f.Key) })
}

// unfounded says why a finding has no claim behind it, or nothing.
func unfounded(id string, f Finding, claims []Claim) string {
	complaint := fmt.Sprintf("%s reported on %s with witness %v: nothing shows it", id, f.Key, f.Witness)
	for _, c := range claims {
		if c.ID != id || !slices.Contains(c.Keys, f.Key) {
			continue
		}
		if c.Proves(f.Witness) {
			return ""
		}
		complaint = fmt.Sprintf("%s reported on %s with witness %v: it proves nothing (%v would)", id, f.Key, f.Witness, c.Proof)
	}
	return complaint
}
