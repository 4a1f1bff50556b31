package reports

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"locktorture/reports/plots"
)

// Write writes every artefact of r into dir, results.json last: a directory
// without it is incomplete. What can be written is, also after an error, which
// is trouble of the run's own: results.json says so.
func Write(dir string, r *Run) error {
	if r.Dir == "" {
		r.Dir = dir
	}
	err := r.writeAll(dir)
	r.Trouble(err)
	last := writeJSON(filepath.Join(dir, ResultsFile), r.results())
	r.Trouble(last)
	return errors.Join(err, last)
}

// Trouble adds to what went wrong with the run itself; nil adds nothing.
func (r *Run) Trouble(err error) {
	if err == nil {
		return
	}
	lines := strings.Split(err.Error(), "\n")
	text := lines[0]
	if n := len(lines) - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	if !slices.Contains(r.Harness, text) {
		r.Harness = append(r.Harness, text)
	}
}

// Lose notes that none of the run's files could be written, and why.
func (r *Run) Lose(err error) {
	r.lost = true
	r.Trouble(err)
}

func (r *Run) writeAll(dir string) error {
	r.unwritten, r.lost = map[string]bool{}, true
	for _, sub := range []string{PlotsDir, HistDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return fmt.Errorf("write reports: %w", err)
		}
	}
	if err := clearWitnesses(filepath.Join(dir, PlotsDir)); err != nil {
		return err
	}
	r.lost = false
	shown := r.Printable()
	figures, errs := drawAll(shown)
	for _, f := range figures {
		err := f.write(filepath.Join(dir, PlotsDir))
		r.unwritten[filepath.Join(PlotsDir, f.Name+".svg")] = err != nil
		errs = append(errs, err)
	}
	page, err := shown.page(figures)
	errs = append(errs, err, writeHists(filepath.Join(dir, HistDir), shown))
	for name, content := range map[string][]byte{
		ReportFile: page, SummaryFile: []byte(shown.Summary()), JUnitFile: shown.junit(), BenchFile: []byte(shown.bench()),
	} {
		err := WriteFile(filepath.Join(dir, name), content)
		r.unwritten[name] = err != nil
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// clearWitnesses removes the figures of an earlier judgement, which may have
// found more.
func clearWitnesses(dir string) error {
	old, err := filepath.Glob(filepath.Join(dir, "witness-*"))
	for _, path := range old {
		err = errors.Join(err, os.Remove(path))
	}
	if err != nil {
		return fmt.Errorf("clear %s: %w", dir, err)
	}
	return nil
}

// A drawing is a figure that was drawn for the page.
type drawing struct {
	*plots.Figure
	svg []byte
}

// write writes the figure as SVG and PNG.
func (d drawing) write(dir string) error {
	png, err := d.PNG()
	if err == nil {
		err = WriteFile(filepath.Join(dir, d.Name+".png"), png)
	}
	return errors.Join(err, WriteFile(filepath.Join(dir, d.Name+".svg"), d.svg))
}

// drawAll draws the figures of a run: those of its witnesses first.
func drawAll(r *Run) (all []drawing, errs []error) {
	m, subject := r.measured(), r.subject()
	var figures []*plots.Figure
	for _, s := range r.Stories {
		figures = append(figures, plots.Witness(s, r.Meta.Seed))
	}
	figures = append(figures,
		plots.Timeline(m, subject, r.acquireSLO()), plots.Percentiles(m, subject),
		plots.Fairness(m, subject), plots.Margin(m, r.Header.TTL))
	for _, f := range figures {
		svg, err := f.SVG()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, drawing{f, svg})
	}
	return all, errs
}
