package gallery

import (
	"errors"
	"io"
	"slices"

	"locktorture/checker"
	"locktorture/reports"
	"locktorture/reports/plots"
	"locktorture/reports/story"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

// ProofsOf gives the first finding of each of ids that r shows, with its story and
// picture, and counts what it took to come that far. A run without a directory
// has no history to tell from.
func ProofsOf(r *reports.Run, ids []string, command string) ([]Proof, error) {
	var proofs []Proof
	var findings []checker.Finding
	for _, id := range ids {
		i := slices.IndexFunc(r.Report.Violations, func(f checker.Finding) bool { return f.ID == id })
		if i >= 0 {
			f := r.Report.Violations[i]
			findings = append(findings, f)
			proofs = append(proofs, Proof{ID: id, Name: f.Name, Text: f.Text, Witness: f.Witness, Run: r.Dir, Command: command})
		}
	}
	if len(proofs) > 0 && r.Dir != "" {
		if err := addStories(r, proofs, findings); err != nil {
			return nil, err
		}
	}
	return append(proofs, missed(r, ids, command)...), nil
}

// missed is the proof that an objective was missed, where ids ask for one.
func missed(r *reports.Run, ids []string, command string) []Proof {
	if !slices.Contains(ids, Missed) {
		return nil
	}
	for _, s := range r.SLOs {
		if !s.OK {
			return []Proof{{
				ID: Missed, Name: "objective missed", Run: r.Dir, Command: command, Text: s.SLO + ": observed " + s.Observed,
				After: r.Stats.Duration, Operations: int(r.Stats.Outcomes.Attempts()),
			}}
		}
	}
	return nil
}

// addStories reads r's history once, for all proofs.
func addStories(r *reports.Run, proofs []Proof, findings []checker.Finding) error {
	source, closer, err := historyfile.Open(r.Dir, nil)
	if err != nil {
		return err
	}
	collector := story.NewCollector(source.Header(), findings, len(findings))
	begun := 0
	for {
		var e history.Event
		if err = source.Next(&e); err != nil {
			break
		}
		if e.Process >= 0 && e.Kind == history.Invoke {
			begun++
		}
		collector.Event(&e)
		for i := range proofs {
			if last := len(proofs[i].Witness) - 1; last >= 0 && proofs[i].Witness[last] == e.Index {
				proofs[i].After, proofs[i].Operations = e.Time, begun
			}
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	for i, s := range collector.Stories() {
		proofs[i].Story = &s
		svg, drawn := plots.Witness(s, r.Meta.Seed).SVG()
		proofs[i].SVG = svg
		err = errors.Join(err, drawn)
	}
	return errors.Join(err, closer.Close())
}
