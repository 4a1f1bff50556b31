package checker

import (
	"fmt"

	"locktorture/checker/anomaly"
)

// listedMost is how many findings of one id are listed that no limit of the
// user's counts.
const listedMost = 50

// noWitness is the index of no event.
const noWitness = -1

// A listing is findings, of which those beyond the first of each id are counted
// and not kept.
type listing struct {
	kept  []Finding
	ids   []string // in the order in which they came
	total map[string]int
}

// add adds a finding; the text of one that is not kept is not written.
func (l *listing) add(id string, idx int, format string, a ...any) {
	if l.total == nil {
		l.total = make(map[string]int)
	}
	if l.total[id] == 0 {
		l.ids = append(l.ids, id)
	}
	if l.total[id]++; l.total[id] > listedMost {
		return
	}
	f := Finding{ID: id, Name: anomaly.Name(id), Text: fmt.Sprintf(format, a...)}
	if idx != noWitness {
		f.Witness = []int{idx}
	}
	l.kept = append(l.kept, f)
}

// findings are those that were kept, and how many there were beyond.
func (l *listing) findings() []Finding {
	out := l.kept
	for _, id := range l.ids {
		if more := l.total[id] - listedMost; more > 0 {
			out = append(out, Finding{ID: id, Name: anomaly.Name(id), Text: fmt.Sprintf("… and %s more of these, %s in all.", thousands(more), thousands(l.total[id]))})
		}
	}
	return out
}

// thousands writes a number with a comma before every three digits.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
