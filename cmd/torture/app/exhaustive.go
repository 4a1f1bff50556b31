package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/reports/terminal"
	"locktorture/reports/unit"
	"locktorture/workload/history"
	"locktorture/workload/history/printable"
)

// An exhaustiveReport is the result of `torture simulate --exhaustive`.
type exhaustiveReport struct {
	Schema  int              `json:"schema"`
	Verdict checker.Verdict  `json:"verdict"`
	Exit    int              `json:"exit"`
	Why     string           `json:"why"`
	Lock    string           `json:"lock"`
	Nodes   int              `json:"nodes"`
	Clients int              `json:"clients"`
	Bounds  simulate.Bounds  `json:"bounds"`
	Tried   []simulate.Tried `json:"tried"`
	Took    time.Duration    `json:"took_ns"`
	Errors  []string         `json:"errors,omitempty"`
	Files   []string         `json:"files,omitempty"`

	Interrupted bool `json:"interrupted,omitempty"`
}

// maxMoves bounds --moves: a round has no more choices.
const maxMoves = 1000

// exhaust tries all orders of messages.
func (s *simulateCommand) exhaust(cmd *cobra.Command, isFarm bool) error {
	for _, name := range []string{"seeds", "seed", "random", "first", "resume"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s goes with a search alone: with --exhaustive nothing is drawn", name)
		}
	}
	if !cmd.Flags().Changed("faults") {
		s.bounds.Faults = min(s.bounds.Faults, max(s.bounds.Deviations, 0))
	}
	switch {
	case isFarm:
		return errors.New("--farm and --nats go with a search alone: --exhaustive plays on this machine")
	case s.bounds.Deviations < 0 || s.bounds.Deviations > maxMoves:
		return fmt.Errorf("--deviations is %d: 0 to %d", s.bounds.Deviations, maxMoves)
	case s.bounds.Faults < 0 || s.bounds.Faults > s.bounds.Deviations:
		return fmt.Errorf("--faults is %d: 0 to --deviations, which is %d", s.bounds.Faults, s.bounds.Deviations)
	case s.bounds.Moves < 1 || s.bounds.Moves > maxMoves:
		return fmt.Errorf("--moves is %d: 1 to %d", s.bounds.Moves, maxMoves)
	}
	if !cmd.Flags().Changed("nodes") && s.job.Nodes == 0 {
		s.job.Nodes = s.fewNodes()
	}
	p, err := s.resolve()
	if err != nil {
		return err
	}
	discard, err := run.PrepareOut(s.out)
	if err != nil {
		return startError(cmd.Context(), err)
	}
	defer discard()
	s.bounds.Empty = p.Forgives() || s.job.Beyond
	s.job.Exhaust = &simulate.Exhaustion{Bounds: s.bounds, Programs: p.Programs()}
	r := &exhaustiveReport{Schema: simulate.Schema, Lock: s.job.Lock, Nodes: p.Masters(), Clients: simulate.SmallClients, Bounds: s.bounds}
	s.tryAll(cmd, r)
	var replays []simulate.Replay
	for _, t := range r.Tried {
		for _, f := range t.Found {
			replays = append(replays, f.Replay)
		}
	}
	if r.Files, err = s.write(replays, simulate.SmallSeed); err != nil {
		return harnessError{err}
	}
	return s.conclude(cmd, r, r.Verdict, r.print)
}

// fewNodes is 3 for a lock that is made for more: a majority of three is as much of one as
// of five, with fewer orders to try. 0 is what the lock is made for.
func (s *simulateCommand) fewNodes() int {
	const few = 3
	if l, err := s.locks.Find(s.job.Lock); err == nil && l.Nodes > few {
		return few
	}
	return 0
}

// tryAll tries all orders on this machine.
func (s *simulateCommand) tryAll(cmd *cobra.Command, r *exhaustiveReport) {
	w, opts := s.people(cmd)
	began := time.Now()
	var mu sync.Mutex
	count := func() string {
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for _, t := range r.Tried {
			n += t.Schedules
		}
		return fmt.Sprintf("%v  schedules %d, of the programs and numbers of deviations that are done", time.Since(began).Round(time.Second), n)
	}
	board := terminal.NewBoard(w, opts, func() []string { return []string{" simulate  " + count()} }, count)
	if !s.quiet {
		fmt.Fprintf(w, "torture %s · simulate --exhaustive\n  lock    %s on %d masters in memory, %d clients, 1 key; virtual time: no evidence about Redis itself\n  bounds  %s\n",
			version, r.Lock, r.Nodes, r.Clients, boundsText(r.Bounds))
	}
	ctx, cancel := context.WithCancel(context.Background())
	var showing sync.WaitGroup
	showing.Go(func() { board.Run(ctx) })
	tell := func(t simulate.RoundReport) {
		mu.Lock()
		r.Tried = append(r.Tried, *t.Tried)
		mu.Unlock()
		board.Println(printable.Line(triedText(t.Tried)))
	}
	var err error
	if s.monitored {
		err = simulate.RunWorkers(cmd.Context(), s.job, s.jobs, tell)
	} else { // part of another program, which cannot be started again
		err = simulate.RunHere(cmd.Context(), s.locks, s.job, tell)
	}
	if err != nil {
		r.Errors = append(r.Errors, history.OneLine(err.Error()))
	}
	cancel()
	showing.Wait()
	r.Took, r.Interrupted = time.Since(began), cmd.Context().Err() != nil
	r.conclude()
}

// atMost is a text about how far schedules departed from a healthy network.
func atMost(deviations int) string {
	if deviations == 0 {
		return "healthy network"
	}
	return "at most " + unit.Counted(deviations, "deviation")
}

func boundsText(b simulate.Bounds) string {
	lost := "keep their data"
	if b.Empty {
		lost = "keep their data, or lose it"
	}
	return fmt.Sprintf("at most %s from a healthy network, among them at most %s, within %s; masters that restart %s",
		unit.Counted(b.Deviations, "deviation"), unit.Counted(b.Faults, "fault"), unit.Counted(b.Moves, "choice"), lost)
}

// triedText is one line of what was tried.
func triedText(t *simulate.Tried) string {
	all := "all"
	switch {
	case len(t.Found) > 0:
		all = "BROKEN after"
	case !t.Complete:
		all = "not all, but"
	}
	return fmt.Sprintf("%-20s %s: %s %s, %d states, %d ended in one that was known; %d grants, %v",
		t.Program, atMost(t.Deviations), all, unit.Counted(t.Schedules, "schedule"), t.States, t.Met, t.Grants, t.Took.Round(time.Millisecond))
}

// conclude decides the verdict.
func (r *exhaustiveReport) conclude() {
	schedules, grants, void, why := 0, 0, 0, ""
	complete := map[string]int{} // by program: deviations up to which everything was tried
	for _, t := range r.Tried {
		schedules, grants, void = schedules+t.Schedules, grants+t.Grants, void+t.Void
		if t.Why != "" {
			why = t.Why
		}
		if t.Complete {
			complete[t.Program] = t.Deviations
		}
	}
	least := r.Bounds.Deviations
	for _, t := range r.Tried {
		least = min(least, complete[t.Program])
	}
	found := r.found()
	switch {
	case found != nil:
		r.Verdict, r.Why = checker.Fail, fmt.Sprintf("%s with at most %s from a healthy network", found.ID, unit.Counted(found.Replay.Schedule.Deviations, "deviation"))
	case len(r.Errors) > 0:
		r.Verdict, r.Why = checker.HarnessError, r.Errors[0]
	case void > 0:
		r.Verdict, r.Why = checker.HarnessError, fmt.Sprintf("%d of %d schedules say nothing: %s", void, schedules, why)
	case r.Interrupted:
		r.Verdict, r.Why = checker.Inconclusive, fmt.Sprintf("interrupted after %d schedules without a violation", schedules)
	case grants == 0:
		r.Verdict, r.Why = checker.Inconclusive, "no grant in any schedule: nothing to judge by"
	case least == 0 && r.Bounds.Deviations > 0:
		r.Verdict, r.Why = checker.Inconclusive, fmt.Sprintf("%d schedules, none with a violation, but not all with a single deviation: give it a larger --budget", schedules)
	case least < r.Bounds.Deviations:
		r.Verdict, r.Why = checker.Pass, fmt.Sprintf("no violation in any schedule with at most %s, nor in some with more: %d schedules", unit.Counted(least, "deviation"), schedules)
	default:
		r.Verdict, r.Why = checker.Pass, fmt.Sprintf("no violation in any schedule within the bounds: %d schedules", schedules)
	}
	r.Exit = r.Verdict.Exit()
}

// found is the finding with the fewest deviations.
func (r *exhaustiveReport) found() (least *simulate.Broken) {
	for i := range r.Tried {
		for j := range r.Tried[i].Found {
			f := &r.Tried[i].Found[j]
			if least == nil || f.Replay.Schedule.Deviations < least.Replay.Schedule.Deviations {
				least = f
			}
		}
	}
	return least
}

func (r *exhaustiveReport) print(w io.Writer) {
	fmt.Fprintf(w, "VERDICT %s  %s\n", r.Verdict, printable.Line(r.Why))
	line := func(label, text string) { fmt.Fprintf(w, "  %-10s %s\n", label, printable.Line(text)) }
	for i := range r.Tried {
		if !slices.ContainsFunc(r.Tried[i+1:], func(t simulate.Tried) bool { return t.Program == r.Tried[i].Program }) {
			line("tried", triedText(&r.Tried[i]))
		}
	}
	n := 0
	for _, t := range r.Tried {
		for _, f := range t.Found {
			n++
			line(fmt.Sprintf("F%d %s", n, f.ID), fmt.Sprintf("%s: %s", t.Program, f.Text))
			for i, m := range f.Moves {
				line(fmt.Sprintf("  %d", i+1), m)
			}
			line("  replay", fmt.Sprintf("torture simulate --lock %s --replay %s   (history %s)", r.Lock, r.Files[n-1], f.Replay.Hash))
		}
	}
	line("judged", "safety but for S3 and S3z, by the judge of every run; liveness is not")
	for _, text := range r.Errors {
		line("error", text)
	}
	line("took", unit.Setting(r.Took.Round(time.Millisecond)))
	line("rests on", "nodes and network in memory: no evidence about Redis itself")
}
