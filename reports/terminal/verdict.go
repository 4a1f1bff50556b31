package terminal

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"locktorture/checker"
	"locktorture/reports"
	"locktorture/reports/unit"
)

const (
	maxLines  = 8 // of missing evidence, and of suspicions
	textWidth = 100
)

// Verdict writes how the run ended, and as its last line the verdict with the
// exit code.
func Verdict(w io.Writer, o Options, r *reports.Run) error {
	r = r.Printable()
	b := &block{o: o}
	v := r.Verdict()
	if !o.Quiet || v != checker.Pass {
		o.lay(b, o.paint(colorOf(v), "VERDICT "+string(v)+r.Qualified())+"  ", r.Headline())
	}
	if !o.Quiet {
		b.body(r, v)
	}
	fmt.Fprintln(b, LastLine(v, cmp.Or(o.Exit, v.Exit()))+r.Qualified())
	_, err := io.WriteString(w, b.String())
	return err
}

// LastLine is how the line begins that every verb that judges ends with: the verdict,
// and the exit code of the process. What was seen and accepted follows it.
func LastLine(v checker.Verdict, exit int) string { return fmt.Sprintf("VERDICT %s exit %d", v, exit) }

func colorOf(v checker.Verdict) string {
	switch v {
	case checker.Pass:
		return greenBold
	case checker.Fail, checker.HarnessError:
		return redBold
	default:
		return amberBold
	}
}

// A block is the text of a verdict.
type block struct {
	strings.Builder
	o Options
}

func (b *block) line(label, text string) {
	if b.o.Width > 0 {
		b.whole(label, text)
		return
	}
	for i, part := range wrap(text, textWidth) {
		if i > 0 {
			label = ""
		}
		b.whole(label, part)
	}
}

// whole writes a text that a log keeps on one line.
func (b *block) whole(label, text string) { b.o.lay(b, fmt.Sprintf("  %-10s ", label), text) }

// file names one of the run's files, or says that it could not be written.
func (b *block) file(label string, r *reports.Run, name string) {
	path, written := r.File(name)
	if !written {
		path = name + " could not be written"
	}
	b.line(label, path)
}

func (b *block) body(r *reports.Run, v checker.Verdict) {
	if v == checker.Fail {
		b.stories(r)
		b.troubles(r)
	} else {
		b.missing(r)
	}
	lines := r.Basis()
	if v == checker.Fail {
		lines = r.Always()
	}
	for _, l := range lines {
		b.whole(l.Label, l.Text)
	}
	b.objectives(r)
	b.suspicions(r)
	if v != checker.Fail && v != checker.Pass {
		b.line("replay", r.Replay(""))
	}
	b.file("report", r, reports.ReportFile)
}

// objectives lists what was demanded beside what was observed.
func (b *block) objectives(r *reports.Run) {
	label := "SLO"
	line := func(ok bool, text, observed string) {
		mark := b.o.paint(greenBold, "✓")
		if !ok {
			mark = b.o.paint(redBold, "✗")
		}
		b.o.lay(b, fmt.Sprintf("  %-10s %s ", label, mark), text+"   "+observed)
		label = ""
	}
	for _, s := range r.SLOs {
		line(s.OK, s.SLO, s.Observed)
	}
	for _, f := range r.Report.Breaches {
		line(false, f.ID, f.Text)
	}
}

// stories tells the first witnesses.
func (b *block) stories(r *reports.Run) {
	for i, s := range r.Stories {
		if i > 0 {
			b.o.lay(b, "  "+b.o.paint(redBold, s.ID)+"  ", s.Title+reports.Allowance(s.Finding))
		} else {
			b.o.lay(b, "  "+b.o.paint(redBold, s.ID)+"  ", fmt.Sprintf("%s %s  seed %s", s.Finding.ID, s.Finding.Key, unit.Seed(r.Meta.Seed)))
		}
		for line := range strings.Lines(reports.StoryText(s, "")) {
			b.o.lay(b, "     ", strings.TrimSuffix(line, "\n"))
		}
		b.line("why", s.Why)
		if cause := strings.Join(s.Finding.Breakers, ", "); cause != "" || s.Finding.Blame != "" {
			b.line("blame", strings.TrimSuffix(s.Finding.Blame+"; in force: "+cause, "; in force: "))
		}
		if s.Remedy != "" {
			b.line("remedy", s.Remedy)
		}
		b.line("replay", r.Replay(s.ID))
		b.file("picture", r, filepath.Join(reports.PlotsDir, "witness-"+s.ID+".svg"))
	}
	if more := r.Untold(); more > 0 {
		b.line("more", unit.Count(more)+" further violations: see results.json; in all: "+strings.Join(r.Found(), "  "))
	}
}

// troubles says what went wrong with the run itself.
func (b *block) troubles(r *reports.Run) {
	for _, h := range r.Troubles() {
		b.o.lay(b, "  "+b.o.paint(redBold, "✗")+" ", "harness: "+h)
	}
}

// missing says what keeps the run from being conclusive.
func (b *block) missing(r *reports.Run) {
	b.troubles(r)
	all := r.Missing()
	for _, f := range all[:min(len(all), maxLines)] {
		text := f.ID + " " + f.Text
		if advice := r.Advice(f); advice != "" {
			text += "   → " + advice
		}
		b.o.lay(b, "  "+b.o.paint(amberBold, "✗")+" ", text)
	}
	if more := len(all) - maxLines; more > 0 {
		fmt.Fprintf(b, "  … and %d more in results.json\n", more)
	}
}

// suspicions counts what was seen and could not be proved.
func (b *block) suspicions(r *reports.Run) {
	if len(r.Report.Suspicious) == 0 {
		return
	}
	ids := map[string]int{}
	var order []string
	for _, f := range r.Report.Suspicious {
		if ids[f.ID] == 0 {
			order = append(order, f.ID)
		}
		ids[f.ID]++
	}
	for i, id := range order {
		order[i] = fmt.Sprintf("%s ×%d", id, ids[id])
	}
	b.line("suspicious", strings.Join(order, "  ")+"   (proved by nothing; see the report)")
}
