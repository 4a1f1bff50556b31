package stats

import (
	"strconv"
	"strings"
	"time"

	"locktorture/workload/history"
)

// load is what the harness says of itself: how late it was and what it did not
// even start.
type load struct {
	lag     *Hist
	dropped int64
	demand  history.Demand // of the main phase
}

// lagged files one reading of the scheduling lag.
func (l *load) lagged(d time.Duration) {
	if l.lag == nil {
		l.lag = newHist()
	}
	record(l.lag, d)
}

// note reads a phase event: its lag, and "N dropped" in its note, the arrivals
// of that phase that found the backlog full.
func (l *load) note(e *history.Event) {
	if e.HasAll(history.HasLag) {
		l.lagged(e.Lag)
	}
	if d, found := history.ParseDemand(e.Note); found && e.Value == history.PhaseMain {
		l.demand = d
	}
	last := ""
	for word := range strings.FieldsSeq(e.Note) {
		if word == "dropped" {
			if n, err := strconv.ParseInt(last, 10, 64); err == nil {
				l.dropped += n
			}
		}
		last = word
	}
}
