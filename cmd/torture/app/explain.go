package app

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"locktorture/checker"
	"locktorture/checker/anomaly"
	"locktorture/reports"
	"locktorture/reports/story"
	"locktorture/reports/unit"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
	"locktorture/workload/history/printable"
)

const (
	explainWidth = 100
	// rawLines is how many events around the story are listed.
	rawLines = 60
	// maxRelated is how many violations another one points to.
	maxRelated = 5
)

// explain tells one violation at length: what kind of thing it is, the story,
// what everyone was told, what the nodes stored, and the events around it.
func explain(w io.Writer, source *stored, report checker.Report, name string) error {
	all := reports.WorstFirst(report)
	if len(all) == 0 {
		return fmt.Errorf("--explain %s: %s proves no violation: its verdict is %s, and check without --explain says why", name, source.where, report.Verdict)
	}
	n, err := numbered(all, name)
	if err != nil {
		return fmt.Errorf("--explain %s: %w", name, err)
	}
	s, err := source.story(all, n)
	if err != nil {
		return err
	}
	printStory(w, s, related(all, n))
	return nil
}

// numbered finds which of the violations, worst first, a name like M-2 means.
func numbered(all []checker.Finding, name string) (n int, err error) {
	n, _ = numberIn(name)
	switch {
	case n < 1:
		return 0, errNoNumber
	case n <= len(all):
		return n, nil
	case len(all) == 0:
		return 0, errors.New("there is no violation")
	case len(all) == 1:
		return 0, errors.New("there is M-1 alone")
	}
	return 0, fmt.Errorf("there are M-1 to M-%d", len(all))
}

// errNoNumber refuses what is no finding's number, whatever was found.
var errNoNumber = errors.New("want M-1, M-2, …")

func numberIn(name string) (int, error) {
	return strconv.Atoi(strings.TrimPrefix(strings.ToUpper(name), "M-"))
}

func mayBeNumber(name string) bool {
	n, err := numberIn(name)
	return err == nil && n > 0
}

// related names the violations whose proof shares events with that of the nth: one is often the
// cause of the other.
func related(all []checker.Finding, n int) string {
	var also []string
	this := all[n-1]
	for i, f := range all {
		shares := slices.ContainsFunc(f.Witness, func(w int) bool { return slices.Contains(this.Witness, w) })
		if i != n-1 && f.Key == this.Key && shares && len(also) < maxRelated {
			also = append(also, printable.Line(fmt.Sprintf("M-%d %s %s", i+1, f.ID, f.Name)))
		}
	}
	return strings.Join(also, "; ")
}

// story reads the history once more, for all that has to do with the nth
// violation.
func (s *stored) story(all []checker.Finding, n int) (story.Story, error) {
	source, closer, err := historyfile.Open(s.path, s.stream)
	if err != nil {
		return story.Story{}, s.named(err)
	}
	told := story.NewCollector(source.Header(), all[n-1:n], 1)
	var e history.Event
	for err = source.Next(&e); err == nil; err = source.Next(&e) {
		told.Event(&e)
	}
	if err = errors.Join(err, closer.Close()); !errors.Is(err, io.EOF) {
		return story.Story{}, s.named(err)
	}
	one := told.Stories()[0]
	one.ID = fmt.Sprintf("M-%d", n)
	return one, nil
}

func printStory(w io.Writer, s story.Story, also string) {
	f := s.Finding
	fmt.Fprintf(w, "%s  %s\n", s.ID, heading(f))
	paragraph(w, "in short", s.Title)
	of, _ := anomaly.Find(f.ID)
	paragraph(w, "meaning", of.Meaning)
	if len(s.Steps) > 0 {
		fmt.Fprintln(w, "  what happened")
		fmt.Fprint(w, reports.StoryText(s, "     "))
	}
	paragraph(w, "why", s.Why)
	paragraph(w, "blame", f.Blame)
	paragraph(w, "in force", strings.Join(f.Breakers, ", "))
	paragraph(w, "remedy", s.Remedy)
	paragraph(w, "see also", also)
	holds(w, s)
	if len(s.Stored) > 0 {
		fmt.Fprintln(w, "  what the nodes stored")
		for _, n := range s.Stored {
			holder := n.Holder
			if holder == "" {
				holder = "nothing"
			}
			fmt.Fprintf(w, "     %-8s %8s to %8s  %s\n", n.Node, unit.Seconds(n.From), unit.Seconds(n.To), holder)
		}
	}
	if len(s.Events) > 0 {
		raw(w, s)
	}
}

func paragraph(w io.Writer, label, text string) {
	if text == "" {
		return
	}
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > explainWidth {
			fmt.Fprintf(w, "  %-9s  %s\n", label, line)
			label, line = "", ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	fmt.Fprintf(w, "  %-9s  %s\n", label, line)
}

// holds lists what everyone was told.
func holds(w io.Writer, s story.Story) {
	if len(s.Holds) == 0 {
		return
	}
	fmt.Fprintln(w, "  what the clients were told")
	for _, h := range s.Holds {
		token, released := "", ""
		if h.Fence > 0 {
			token = fmt.Sprintf(", token %d", h.Fence)
		}
		if h.Released > 0 {
			released = ", release answered at " + unit.Seconds(h.Released)
		}
		fmt.Fprintf(w, "     %-8s %8s to %8s  you hold %s%s; promised until %s%s\n",
			h.Owner, unit.Seconds(h.From), unit.Seconds(h.To), s.Finding.Key, token, unit.Seconds(h.Deadline), released)
	}
}

// raw lists the events around the story; those that prove it are marked.
func raw(w io.Writer, s story.Story) {
	events := around(s.Events, s.Finding.Witness)
	fmt.Fprintf(w, "  the events around it (* proves it; %d of %d)\n", len(events), len(s.Events))
	next := 0
	for i, at := range events {
		if i > 0 && at != next {
			fmt.Fprintln(w, "            …")
		}
		rawLine(w, s.Events[at], s.Finding.Witness)
		next = at + 1
	}
}

func rawLine(w io.Writer, e history.Event, witness []int) {
	mark := " "
	if slices.Contains(witness, e.Index) {
		mark = "*"
	}
	who, text := story.Sentence(e)
	fmt.Fprintf(w, "   %s %8d  %8s  %-8s  %s\n", mark, e.Index, unit.Seconds(e.Time), who, text)
}

// around picks which events to list: all, or else as many as fit before and
// after each one that proves the violation.
func around(events []history.Event, witness []int) []int {
	var proofs, picked []int
	for i, e := range events {
		if slices.Contains(witness, e.Index) {
			proofs = append(proofs, i)
		}
	}
	if len(proofs) == 0 {
		proofs = []int{rawLines/2 - 1}
	}
	reach := max(rawLines/len(proofs)/2, 1)
	for i := range events {
		near := func(p int) bool { return i > p-reach && i <= p+reach }
		if len(events) <= rawLines || slices.ContainsFunc(proofs, near) {
			picked = append(picked, i)
		}
	}
	return picked
}
