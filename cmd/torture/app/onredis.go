package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/hunt"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/search"
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
	servers := hunt.Servers{Lock: p.Lock, Nodes: file.Nodes, Play: s.playWith, Out: s.out}
	round, virtual := file.Round, (*simulate.Sturdy)(nil)
	if file.Schedule == nil {
		virtual = s.sturdy(cmd.Context(), p, file)
		pace := p.Pace(virtual.Round)
		round, servers.Pace = virtual.Round, &pace
	}
	real, err := servers.Show(cmd.Context(), round, file.Finding, s.onRedis)
	if err != nil {
		return fmt.Errorf("--on-redis: %w", err)
	}
	real.Explain(virtual)
	v := checker.Inconclusive
	if real.Shown > 0 {
		v = checker.Fail
	}
	return s.conclude(cmd, real, v, func(w io.Writer) { realText(w, file, round, real) })
}

// sturdy is the round in which the finding rests least on the delays of its messages. What the
// corrected lock shows in it too does not count.
func (s *simulateCommand) sturdy(ctx context.Context, p *simulate.Player, file simulate.Replay) *simulate.Sturdy {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // as replayed
	judged := *p
	if twin, known := s.locks[p.Lock.CorrectedBy]; known {
		if t := (&simulate.Player{Lock: twin, Nodes: p.Masters()}); t.Supports() == nil {
			judged.Twin = t
		}
	}
	found := judged.Sturdy(ctx, file.Round, file.Finding)
	return &found
}

func realText(w io.Writer, file simulate.Replay, round search.Round, real *hunt.Real) {
	line := func(label, text string) { fmt.Fprintf(w, "  %-10s %s\n", label, printable.Line(text)) }
	fmt.Fprintf(w, "torture %s · simulate · %s on real servers (%s)\n", version, printable.Line(file.Finding.ID), real.Testbed)
	for _, step := range file.Round.Steps {
		line("step", stepText(step))
	}
	if v := real.Virtual; v != nil {
		line("virtual", fmt.Sprintf("with other delays of messages it shows in %d of %d plays as found", v.AsFound, v.Of))
	}
	if search.SizeOf(round) != search.SizeOf(file.Round) {
		line("played", fmt.Sprintf("for %v with %d clients, its steps %d times over, so that it rests less on delays: in %d of %d plays",
			round.Duration, round.Clients, cmp.Or(round.Count()/max(1, file.Round.Count()), 1), real.Virtual.Shown, real.Virtual.Of))
	}
	line("shown", fmt.Sprintf("%d of %d", real.Shown, real.Plays))
	if len(real.Others) > 0 {
		line("besides", fmt.Sprint(real.Others))
	}
	for _, text := range real.Why {
		line("why", text)
	}
	for _, text := range slices.Sorted(slices.Values(real.Void)) {
		line("void", text)
	}
}
