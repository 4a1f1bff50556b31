package hunt

import (
	"fmt"
	"time"

	"locktorture/cmd/torture/internal/farm"
	"locktorture/reports/unit"
)

// liveFindings is how many kinds of findings the live view has lines for.
const liveFindings = 8

// Lines are what a terminal shows while the hunt goes on.
func (h *Hunt) Lines() []string {
	r := h.Report()
	found := kinds(r.Found)
	lines := []string{fmt.Sprintf(" hunt  %s  %s/%s  rounds %d (%d at once)  corpus %d  coverage %s  states %d  findings %d",
		r.Lock, unit.Span(time.Since(h.began).Round(time.Second)), unit.Setting(h.cfg.Budget), len(r.Rounds), h.limiter.width(), r.Sums.Corpus,
		r.covered(), r.Sums.States, len(found))}
	h.mu.Lock()
	shrinking, scouting := h.shrinking, h.scouting
	h.mu.Unlock()
	if h.cfg.Farm != nil {
		lines = append(lines, "   "+farm.Words(h.cfg.Farm.Workers()))
	}
	if scouting {
		lines = append(lines, "   scouts look for rounds that break it in virtual time, to be played on real servers …")
	}
	for i, f := range found {
		if i == liveFindings {
			return append(lines, fmt.Sprintf("   and %d more", len(found)-i))
		}
		state := ""
		switch {
		case f.Small != nil:
			state = shrunkWords(f.Small)
		case shrinking != nil && shrinking.Key() == f.Key():
			state = "shrinking …"
		}
		lines = append(lines, fmt.Sprintf("   F%-2d %-4s %-36s  round %-4d %s", i+1, f.ID, f.Name, f.Number, state))
	}
	return lines
}

// covered is how many cells were met, of those that could be: which they are, the
// first round tells.
func (r *Report) covered() string {
	if len(r.Cells) == 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%d", r.Sums.Cells, len(r.Cells))
}

// LogLine is what a log gets every ten seconds: words without spaces, for grep.
func (h *Hunt) LogLine() string {
	r := h.Report()
	workers := ""
	if h.cfg.Farm != nil {
		workers = fmt.Sprintf(" workers=%d", len(h.cfg.Farm.Workers()))
	}
	return fmt.Sprintf("t=+%ds rounds=%d void=%d at_once=%d corpus=%d cells=%d/%d states=%d quiet=%d findings=%d%s",
		int(time.Since(h.began).Seconds()), r.Sums.Rounds, r.Sums.Void, h.limiter.width(), r.Sums.Corpus, r.Sums.Cells, len(r.Cells), r.Sums.States,
		r.Sums.Quiet, len(kinds(r.Found)), workers)
}
