package app

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/reports"
	"locktorture/reports/story"
	"locktorture/reports/terminal"
	"locktorture/workload/history"
	"locktorture/workload/history/printable"
)

// playAgain plays the round of a file, and tells its story.
func (s *simulateCommand) playAgain(cmd *cobra.Command) error {
	file, err := simulate.ReadReplay(s.replay)
	if err != nil {
		return fmt.Errorf("--replay: %w", err)
	}
	if cmd.Flags().Changed("lock") && s.job.Lock != file.Lock {
		return fmt.Errorf("--lock %s: the finding in %s is of %s", s.job.Lock, s.replay, file.Lock)
	}
	p, err := s.player(file.Lock, file.Nodes)
	if err != nil {
		return err
	}
	res, events := replayed(cmd.Context(), p, file)
	switch {
	case res.Err != nil:
		return harnessError{res.Err}
	case s.onRedis > 0:
		file.Round.Steps = res.Steps
		return s.playOnRedis(cmd, p, file)
	}
	return s.printReplay(cmd, file, res, events)
}

// replayed plays a round as the search played it, on one processor: on more,
// goroutines of one instant change places.
func replayed(ctx context.Context, p *simulate.Player, file simulate.Replay) (res simulate.Result, events []history.Event) {
	p.Watch = func() []history.Sink {
		return []history.Sink{history.SinkFunc(func(e *history.Event) { events = append(events, *e) })}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	return p.PlayAgain(ctx, file), events
}

// sameAs says whether a replay had the history of its file.
func sameAs(file simulate.Replay, res simulate.Result) string {
	if file.Hash != res.Hash {
		return "not the history of the file, " + file.Hash + ": another version of the lock or of torture wrote it, or two goroutines of one instant changed places"
	}
	return "the same history as before, event for event"
}

// storiesOf prints the findings of a replay.
func storiesOf(w io.Writer, res simulate.Result, events []history.Event) {
	told := story.NewCollector(res.Header, reports.WorstFirst(res.Report), 3)
	for i := range events {
		told.Event(&events[i])
	}
	for _, one := range told.Stories() {
		fmt.Fprintf(w, "%s  %s %s\n", one.ID, one.Finding.ID, printable.Line(one.Title))
		fmt.Fprint(w, reports.StoryText(one, "     "))
		fmt.Fprintf(w, "  why        %s\n", printable.Line(one.Why))
	}
}

// printReplay prints the result of a replay, and a Go test that plays the same.
func (s *simulateCommand) printReplay(cmd *cobra.Command, file simulate.Replay, res simulate.Result, events []history.Event) error {
	w, _ := s.people(cmd)
	if s.json {
		if err := printJSON(cmd.OutOrStdout(), res.Report); err != nil {
			return harnessError{err}
		}
	}
	if !s.quiet {
		fmt.Fprintf(w, "torture %s · simulate · replay of %s\n  history %s: %s\n", version, printable.Line(s.replay), res.Hash, sameAs(file, res))
		storiesOf(w, res, events)
		_, own := catalogue.Builtin()[file.Lock]
		test, err := file.GoTest(!own)
		if err != nil {
			return harnessError{err}
		}
		fmt.Fprintf(w, "a test of it, which runs in virtual time (import \"locktorture/cmd/torture/app\"):\n\n%s\n", printable.Lines(test))
	}
	v := checker.Pass
	if len(res.Report.Violations) > 0 {
		v = checker.Fail
	}
	fmt.Fprintln(w, terminal.LastLine(v, v.Exit()))
	if v != checker.Pass {
		return exitCode(v.Exit())
	}
	return nil
}
