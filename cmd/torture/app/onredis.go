package app

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/hunt"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/workload/history/printable"
)

// playOnRedis plays a finding of virtual time on real servers. What does not show there is
// not disproved: threads and packets have a timing of their own.
func (s *simulateCommand) playOnRedis(cmd *cobra.Command, p *simulate.Player, file simulate.Replay) error {
	discard, err := run.PrepareOut(s.out)
	if err != nil {
		return startError(cmd.Context(), err)
	}
	defer discard()
	real, err := hunt.OnServers(cmd.Context(), p.Lock, file.Nodes, s.playWith, s.out, file.Round, file.Finding, s.onRedis)
	if err != nil {
		return fmt.Errorf("--on-redis: %w", err)
	}
	v := checker.Inconclusive
	if real.Shown > 0 {
		v = checker.Fail
	}
	return s.conclude(cmd, real, v, func(w io.Writer) { realText(w, file, real) })
}

func realText(w io.Writer, file simulate.Replay, real *hunt.Real) {
	line := func(label, text string) { fmt.Fprintf(w, "  %-10s %s\n", label, printable.Line(text)) }
	fmt.Fprintf(w, "torture %s · simulate · %s on real servers (%s)\n", version, printable.Line(file.Finding.ID), real.Testbed)
	for _, step := range file.Round.Steps {
		line("step", stepText(step))
	}
	line("shown", fmt.Sprintf("%d of %d", real.Shown, real.Plays))
	if len(real.Others) > 0 {
		line("besides", fmt.Sprint(real.Others))
	}
	for _, moment := range slices.Sorted(maps.Keys(real.Absent)) {
		line("missed", fmt.Sprintf("%s did not come in %d of the others", moment, real.Absent[moment]))
	}
	for _, text := range real.Void {
		line("void", text)
	}
}
