package rule

import (
	"fmt"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/words"
)

// NoWitness stands for the index of an event where there is none.
const NoWitness = -1

// A Remark is a simple finding: an id, the event that shows it, and a text.
type Remark struct {
	ID      string
	Key     string
	Witness []int
	Text    string
}

// A Listing is remarks. It keeps the first ones of each id, and counts the others.
type Listing struct {
	kept  []Remark
	ids   []string // in the order in which they came
	total map[string]int
}

// Add adds a remark. It formats the text only if it keeps the remark.
func (l *Listing) Add(id string, idx int, format string, a ...any) {
	if l.total == nil {
		l.total = make(map[string]int)
	}
	if l.total[id] == 0 {
		l.ids = append(l.ids, id)
	}
	if l.total[id]++; l.total[id] > ledger.MostListed {
		return
	}
	f := Remark{ID: id, Text: fmt.Sprintf(format, a...)}
	if idx != NoWitness {
		f.Witness = []int{idx}
	}
	l.kept = append(l.kept, f)
}

// Remarks are the remarks that were kept, and one for each id about how many more there were.
func (l *Listing) Remarks() []Remark {
	out := l.kept
	for _, id := range l.ids {
		if more := l.total[id] - ledger.MostListed; more > 0 {
			out = append(out, Remark{ID: id, Text: fmt.Sprintf("… and %s more of these, %s in all.", words.Thousands(more), words.Thousands(l.total[id]))})
		}
	}
	return out
}
