package hunt

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"locktorture/cmd/torture/internal/simulate"
	"locktorture/reports/stats"
	"locktorture/reports/unit"
)

// VirtualSums sums rows up.
type VirtualSums struct {
	Flaws    int           `json:"flaws"` // that were looked for
	Found    int           `json:"found"`
	Missed   []string      `json:"not_found"`
	Accused  []string      `json:"accused"`
	Void     []string      `json:"void"`
	NotTried []string      `json:"not_tried"`
	Controls int           `json:"clean"`
	Least    int           `json:"clean_least_seeds"` // that any of those was played for
	Median   time.Duration `json:"median_cpu_ns"`     // of processor time until found
	Real     time.Duration `json:"median_real_ns"`
	Events   int           `json:"most_events"` // of any finding's smallest round
	Random   int           `json:"found_at_random"`
	IsRandom bool          `json:"-"` // was tried
}

// SumVirtual sums rows up.
func SumVirtual(rows []*VirtualRow) VirtualSums {
	s := VirtualSums{Missed: []string{}, Accused: []string{}, Void: []string{}, NotTried: []string{}}
	var used, took []time.Duration
	for _, r := range rows {
		switch r.Outcome {
		case Found:
			s.Found++
			used, took = append(used, r.CPU), append(took, r.Real)
			s.Events = max(s.Events, r.Finding.Events)
		case NotFound:
			s.Missed = append(s.Missed, r.Lock)
		case Clean:
			if s.Controls++; s.Controls == 1 || r.Seeds < s.Least {
				s.Least = r.Seeds
			}
		case Accused:
			s.Accused = append(s.Accused, r.Lock)
		case NoAnswer:
			s.Void = append(s.Void, r.Lock)
		case NotTried:
			s.NotTried = append(s.NotTried, r.Lock)
		}
		if r.Random != nil {
			if s.IsRandom = true; r.Random.ID != "" {
				s.Random++
			}
		}
	}
	if s.Flaws = s.Found + len(s.Missed); s.Found > 0 {
		s.Median, s.Real = stats.Median(used), stats.Median(took)
	}
	return s
}

// String is the sum in one line.
func (s VirtualSums) String() string {
	list := func(ids []string) string { return orDash(strings.Join(ids, " ")) }
	atRandom := ""
	if s.IsRandom {
		atRandom = fmt.Sprintf(", %d at random", s.Random)
	}
	return fmt.Sprintf("SELFTEST virtual: %d of %d flaws found%s; median %s of processor time, %s of real time; at most %d events left · not found: %s · clean: %d, of %d seeds at least · accused: %s · void: %s · not tried: %s",
		s.Found, s.Flaws, atRandom, unit.Span(s.Median), unit.Span(s.Real), s.Events, list(s.Missed), s.Controls, s.Least, list(s.Accused), list(s.Void), list(s.NotTried))
}

// VirtualTable prints one line for each row, why what was not played was not, and the
// sum.
func VirtualTable(w io.Writer, rows []*VirtualRow) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	columns, random := "LOCK\tSTATED\tOUTCOME\tAS\tSEEDS\tCPU s\tSTEPS\tEVENTS", SumVirtual(rows).IsRandom
	if random {
		columns += "\tAT RANDOM\tSEEDS\tCPU s"
	}
	fmt.Fprintln(t, columns)
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r.cells(random), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Why != "" {
			fmt.Fprintf(w, "  %s: %s\n", r.Lock, r.Why)
		}
	}
	_, err := fmt.Fprintln(w, "\n"+SumVirtual(rows).String())
	return err
}

// VirtualMarkdown prints the rows of flaws that were looked for as a table, and the
// sum.
func VirtualMarkdown(w io.Writer, rows []*VirtualRow) error {
	random := SumVirtual(rows).IsRandom
	head, rule := "| lock | stated | outcome | as | seeds | processor seconds | steps | events |", "|---|---|---|---|---|---|---|---|"
	if random {
		head, rule = head+" at random | seeds | processor seconds |", rule+"---|---|---|"
	}
	fmt.Fprintln(w, head+"\n"+rule)
	for _, r := range rows {
		if r.Outcome == NotTried {
			continue
		}
		cells := r.cells(random)
		cells[0] = "`" + cells[0] + "`"
		fmt.Fprintln(w, "| "+strings.Join(cells, " | ")+" |")
	}
	_, err := fmt.Fprintf(w, "\n%s\n", SumVirtual(rows))
	return err
}

// cells are the row's, in the order of the columns.
func (r *VirtualRow) cells(random bool) []string {
	steps, events := "–", "–"
	if r.Finding != nil {
		steps, events = sizeWords(r.Finding)
	}
	stated := strings.Join(r.Stated, " ")
	if stated == "" {
		stated = "nothing at all"
	}
	all := []string{r.Lock, stated, r.Outcome, orDash(r.ID), fmt.Sprint(r.Seeds), seconds(r.CPU), steps, events}
	switch {
	case random && r.Random != nil:
		all = append(all, orDash(r.Random.ID), fmt.Sprint(r.Random.Seeds), seconds(r.Random.CPU))
	case random:
		all = append(all, "–", "–", "–")
	}
	return all
}

// sizeWords are how many steps a finding's round had and has, and how many events.
func sizeWords(f *simulate.Found) (steps, events string) {
	if f.Small == nil {
		return fmt.Sprint(f.First.Count()), "–"
	}
	return fmt.Sprintf("%d→%d", f.Small.Before.Steps, f.Small.After.Steps), fmt.Sprint(f.Events)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }
