package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/farm"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/faults"
	"locktorture/reports"
	"locktorture/reports/terminal"
	"locktorture/reports/unit"
	"locktorture/workload/history"
	"locktorture/workload/history/printable"
)

// A simulateCommand is `torture simulate`.
type simulateCommand struct {
	*tool
	output
	job         simulate.Job
	jobs        int
	replay      string
	onRedis     int // plays on real servers
	out         string
	farm        farmFlags
	resume      string
	coordinator *farm.Coordinator // of the farm that plays; nil: this machine does
	dir         string            // of the findings, where it is known before them

	exhaustive bool
	bounds     simulate.Bounds
}

func (t *tool) newSimulate() *cobra.Command {
	s := &simulateCommand{tool: t}
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "search for what breaks a lock in virtual time, and replay it exactly",
		Long: "simulate plays short rounds of load and faults against a lock in virtual time: the lock, the load, the faults and\n" +
			"the judge are those of a run, while network and nodes are in memory and no real time passes. Rounds are drawn at\n" +
			"random, and by variation of rounds that reached something new. Findings are shrunk and written to files; --replay plays one\n" +
			"again, event for event. It is no evidence about Redis itself. It exits with 1 when it found something, with 0 when\n" +
			"it found nothing, with 3 when too little happened to judge. Ctrl-C keeps what was found.",
		Args: cobra.NoArgs,
		RunE: s.run,
	}
	f := cmd.Flags()
	f.StringVar(&s.job.Lock, "lock", "redlock", "lock under test (see: torture list locks); not one in a child process")
	f.IntVar(&s.job.Nodes, "nodes", 0, "number of masters; 0: as many as the lock is made for")
	f.IntVar(&s.job.Rounds, "seeds", 0, "rounds, each of a seed of its own; 0: as many as --budget allows")
	f.DurationVar(&s.job.Budget, "budget", 0, "real time for all of it; 1m when --seeds is not given")
	f.Uint64Var(&s.job.Seed, "seed", 0, "seed of everything random; 0: a random one")
	f.IntVar(&s.jobs, "jobs", runtime.NumCPU(), "processes that play rounds side by side")
	f.BoolVar(&s.job.Beyond, "beyond", false, "also draw faults that break the assumptions of correct locks: clocks that jump, a single master that forgets")
	f.BoolVar(&s.job.Random, "random", false, "draw every round at random, without guidance: the baseline of the guided search")
	f.BoolVar(&s.job.First, "first", false, "end with the first finding")
	f.StringVar(&s.replay, "replay", "", "file of a finding to play again, in place of a search")
	f.IntVar(&s.onRedis, "on-redis", 0, "with --replay: play the finding so many times on real servers too, with its faults locked to the same moments, and say in how many it shows")
	f.BoolVar(&s.exhaustive, "exhaustive", false, "in place of a search, try every order in which messages of two clients can arrive, within the three bounds that follow")
	f.IntVar(&s.bounds.Deviations, "deviations", 2, "with --exhaustive: how often at most an order departs from that of a healthy network: by a message held back, or by a fault")
	f.IntVar(&s.bounds.Faults, "faults", 1, "with --exhaustive: how many of these at most are faults: a connection lost with what it carries, a master restarted")
	f.IntVar(&s.bounds.Moves, "moves", 40, "with --exhaustive: how many choices each order has at most; after them the network is healthy")
	s.farm.add(f)
	f.StringVar(&s.resume, "resume", "", "with --farm or --nats: directory of a simulation whose coordinator was killed, to go on with, or latest")
	f.StringVar(&s.out, "out", runsFolder, "folder in which a directory with the findings is made")
	s.addFlags(f, "the report as JSON")
	return cmd
}

func (s *simulateCommand) run(cmd *cobra.Command, _ []string) error {
	if err := simulate.SelfCheck(); err != nil {
		return harnessError{err}
	}
	switch {
	case cmd.Flags().Changed("on-redis") && (s.onRedis < 1 || s.replay == ""):
		return fmt.Errorf("--on-redis is %d: 1 or more plays of the finding that --replay names", s.onRedis)
	case s.replay != "":
		return s.playAgain(cmd)
	}
	isFarm, err := s.farm.on()
	if err != nil {
		return err
	}
	if s.exhaustive {
		return s.exhaust(cmd, isFarm)
	}
	for _, name := range []string{"deviations", "faults", "moves"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s goes with --exhaustive alone", name)
		}
	}
	if err := s.goOn(cmd, isFarm); err != nil {
		return err
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
	r := &simulate.Report{
		Schema: simulate.Schema, Lock: s.job.Lock, Nodes: p.Masters(), Seed: s.job.Seed, Jobs: s.jobs,
		Beyond: s.job.Beyond, Faults: p.Space(s.job.Beyond).Faults,
	}
	if err := s.play(cmd, p, r, isFarm); err != nil {
		return err
	}
	var replays []simulate.Replay
	for i := range r.Found {
		replays = append(replays, simulate.ReplayOf(r.Lock, r.Nodes, &r.Found[i]))
	}
	if r.Files, err = s.write(replays, r.Seed); err != nil {
		return harnessError{err}
	}
	return s.conclude(cmd, r, r.Verdict, func(w io.Writer) { s.summary(w, r) })
}

// resolve names the first flag that cannot work.
func (s *simulateCommand) resolve() (*simulate.Player, error) {
	switch {
	case s.job.Rounds < 0:
		return nil, fmt.Errorf("--seeds is %d: above 0, such as 1000", s.job.Rounds)
	case s.job.Budget < 0:
		return nil, fmt.Errorf("--budget is %v: above 0, such as 1m", s.job.Budget)
	case s.jobs < 1:
		return nil, fmt.Errorf("--jobs is %d: at least 1", s.jobs)
	case s.job.Nodes < 0 || s.job.Nodes > config.MaxNodes:
		return nil, fmt.Errorf("--nodes is %d: 1 to %d, or 0 for what the lock is made for", s.job.Nodes, config.MaxNodes)
	}
	if s.job.Rounds == 0 && s.job.Budget == 0 {
		s.job.Budget = time.Minute
	}
	if s.job.Seed == 0 {
		s.job.Seed = drawSeed()
	}
	return s.player(s.job.Lock, s.job.Nodes)
}

// player returns who plays a lock, where it can live in virtual time.
func (s *simulateCommand) player(id string, nodes int) (*simulate.Player, error) {
	lock, err := s.locks.Find(id)
	if err != nil {
		return nil, fmt.Errorf("--lock: %w", err)
	}
	p := &simulate.Player{Lock: lock, Nodes: nodes}
	if err := p.Supports(); err != nil {
		return nil, fmt.Errorf("--lock %s: %w", id, err)
	}
	return p, nil
}

// simulateFile, in a simulation's directory, holds the job that a farm plays, to be
// gone on with.
const simulateFile = "simulate.json"

// A simulateRecord is what simulateFile holds.
type simulateRecord struct {
	Schema int          `json:"schema"` // 1
	Build  farm.Build   `json:"build"`
	Job    simulate.Job `json:"job"`
}

// goOn takes over the job of --resume.
func (s *simulateCommand) goOn(cmd *cobra.Command, isFarm bool) (err error) {
	if s.resume == "" {
		return nil
	}
	if !isFarm {
		return errors.New("--resume goes with --farm or --nats alone: a simulation of this machine leaves nothing to go on with")
	}
	for _, name := range []string{"lock", "nodes", "seeds", "seed", "beyond", "random", "first"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s beside --resume %s: that simulation has its own; leave one of both out", name, s.resume)
		}
	}
	if s.dir, err = farmDir(s.resume, s.out, "simulate", simulateFile, 0); err != nil {
		return err
	}
	path := filepath.Join(s.dir, simulateFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var r simulateRecord
	if err := json.Unmarshal(raw, &r); err != nil || r.Schema != 1 {
		return fmt.Errorf("--resume %s: %s: want schema 1: %w", s.resume, path, errors.Join(err, errNotSimulation))
	}
	if r.Build != thisBuild() {
		return fmt.Errorf("--resume %s: it was begun by %s, in which a seed may mean other rounds; this is %s", s.resume, r.Build, thisBuild())
	}
	budget := s.job.Budget
	if s.job = r.Job; cmd.Flags().Changed("budget") {
		s.job.Budget = budget
	}
	return nil
}

var errNotSimulation = errors.New("not the record of a simulation")

// play has this machine or a farm explore.
func (s *simulateCommand) play(cmd *cobra.Command, p *simulate.Player, r *simulate.Report, isFarm bool) (err error) {
	if !isFarm {
		s.explore(cmd, p, r)
		return nil
	}
	if s.dir == "" {
		if s.dir, err = farmDir("", s.out, "simulate", simulateFile, r.Seed); err != nil {
			return err
		}
	}
	say := lines(cmd.ErrOrStderr())
	if s.coordinator, err = s.farm.open(cmd.Context(), s.dir, "simulate "+s.job.Lock+" in "+s.dir, say); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(simulateRecord{1, thisBuild(), s.job}, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, simulateFile), append(raw, '\n'), 0o600)
	}
	if err != nil {
		leave(s.coordinator, true, say)
		return harnessError{err}
	}
	s.explore(cmd, p, r)
	leave(s.coordinator, len(r.Errors) == 0 && !r.Interrupted, say)
	return nil
}

// explore plays rounds and shows how it goes.
func (s *simulateCommand) explore(cmd *cobra.Command, p *simulate.Player, r *simulate.Report) {
	w, opts := s.people(cmd)
	began := time.Now()
	var mu sync.Mutex
	board := terminal.NewBoard(w, opts, func() []string {
		mu.Lock()
		defer mu.Unlock()
		r.Took = time.Since(began)
		if s.coordinator != nil {
			return []string{" simulate  " + progress(r), "   " + farm.Words(s.coordinator.Workers())}
		}
		return []string{" simulate  " + progress(r)}
	}, func() string {
		mu.Lock()
		defer mu.Unlock()
		r.Took = time.Since(began)
		return progress(r)
	})
	if !s.quiet {
		fmt.Fprintf(w, "torture %s · simulate · seed %s\n  lock    %s on %d masters in memory, %s; virtual time: no evidence about Redis itself\n",
			version, unit.Seed(r.Seed), r.Lock, r.Nodes, unit.Counted(r.Jobs, "process"))
	}
	ctx, cancel := context.WithCancel(context.Background())
	var showing sync.WaitGroup
	showing.Go(func() { board.Run(ctx) })
	tell := func(t simulate.RoundReport) {
		mu.Lock()
		before := len(r.Found)
		r.Add(t)
		fresh := r.Found[before:]
		mu.Unlock()
		for _, f := range fresh {
			board.Println(found(&f))
		}
	}
	switch {
	case s.coordinator != nil:
		show := func(f simulate.Found) {
			mu.Lock()
			r.AddFound(f)
			mu.Unlock()
			board.Println(found(&f))
		}
		if err := p.ExploreAfar(cmd.Context(), s.job, s.coordinator, tell, show); err != nil {
			r.Errors = append(r.Errors, history.OneLine(err.Error()))
		}
		slices.SortStableFunc(r.Found, func(a, b simulate.Found) int { // they became small in any order
			return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Blame, b.Blame))
		})
	case s.monitored:
		if err := simulate.RunWorkers(cmd.Context(), s.job, s.jobs, tell); err != nil {
			r.Errors = append(r.Errors, history.OneLine(err.Error()))
		}
	default: // part of another program, which cannot be started again
		r.Jobs = 1
		p.Explore(cmd.Context(), s.job, tell)
	}
	cancel()
	showing.Wait()
	r.Took, r.Interrupted = time.Since(began), cmd.Context().Err() != nil
	r.Conclude()
}

// found is one line of a finding.
func found(f *simulate.Found) string {
	return printable.Line(fmt.Sprintf("found %s %s after %v: %s", f.ID, f.Name, f.After.Round(time.Millisecond), sizes(f)))
}

// progress is one line of figures.
func progress(r *simulate.Report) string {
	return fmt.Sprintf("%v  rounds %d  virtual %v (×%.0f)  attempts %d (%.0f/s)  cells %d  findings %d",
		r.Took.Round(time.Second), r.Rounds, r.Virtual.Round(time.Second), r.Virtual.Seconds()/max(r.Took.Seconds(), 1e-9),
		r.Attempts, float64(r.Attempts)/max(r.Took.Seconds(), 1e-9), r.Cells, len(r.Found))
}

func sizes(f *simulate.Found) string {
	if f.Small == nil {
		return fmt.Sprintf("%s, %s, not made small", unit.Counted(f.First.Count(), "step"), unit.Counted(f.First.Clients, "client"))
	}
	b, a := f.Small.Before, f.Small.After
	return fmt.Sprintf("shrunk %d→%d steps, %d→%d clients, %d→%d keys, %v→%v, replayed %d of %d",
		b.Steps, a.Steps, b.Clients, a.Clients, b.Keys, a.Keys, unit.Setting(b.Duration), unit.Setting(a.Duration), f.Small.Again, f.Small.Of)
}

// write writes a file for each finding.
func (s *simulateCommand) write(replays []simulate.Replay, seed uint64) (files []string, err error) {
	if len(replays) == 0 {
		return nil, nil
	}
	dir := cmp.Or(s.dir, resultsDir(s.out, "simulate", seed))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep findings: %w", err)
	}
	for i, r := range replays {
		files = append(files, filepath.Join(dir, fmt.Sprintf("finding-%d-%s.json", i+1, r.Finding.ID)))
		if err := r.Write(files[i]); err != nil {
			return files, err
		}
	}
	return files, nil
}

// conclude prints the report and ends with the verdict's exit code.
func (s *simulateCommand) conclude(cmd *cobra.Command, report any, v checker.Verdict, summary func(io.Writer)) error {
	w, _ := s.people(cmd)
	if s.json {
		if err := printJSON(cmd.OutOrStdout(), report); err != nil {
			return harnessError{err}
		}
	}
	if !s.quiet {
		summary(w)
	}
	return verdict(w, v)
}

func (s *simulateCommand) summary(w io.Writer, r *simulate.Report) {
	fmt.Fprintf(w, "VERDICT %s  %s\n", r.Verdict, printable.Line(r.Why))
	line := func(label, text string) { fmt.Fprintf(w, "  %-10s %s\n", label, printable.Line(text)) }
	for i, f := range r.Found {
		line(fmt.Sprintf("F%d %s", i+1, f.ID), fmt.Sprintf("%s; %s", cmp.Or(f.Blame, f.Name), sizes(&f)))
		line("", f.Text)
		for _, step := range f.Smallest().Steps {
			line("  step", stepText(step))
		}
		line("  replay", fmt.Sprintf("torture simulate --lock %s --replay %s   (history %s)", r.Lock, r.Files[i], f.Hash))
	}
	line("played", fmt.Sprintf("%s in %v, %d void", unit.Counted(r.Rounds, "round"), r.Took.Round(time.Millisecond), r.Void))
	for _, text := range r.Voids {
		line("", "void: "+text)
	}
	line("virtual", fmt.Sprintf("%v: ×%.0f real time", r.Virtual.Round(time.Second), r.Virtual.Seconds()/max(r.Took.Seconds(), 1e-9)))
	line("attempts", fmt.Sprintf("%d at a lock, %.0f per second of a worker; %d grants", r.Attempts, float64(r.Attempts)/max(r.Busy.Seconds(), 1e-9), r.Grants))
	line("hand-overs", fmt.Sprintf("%d, %d with a fault in force; %d cells of phase × fault class", r.Hands, r.Faulted, r.Cells))
	if r.Verdict == checker.Pass {
		line("bound", reports.Bound(r.Faulted))
	}
	for _, text := range r.Errors {
		line("error", text)
	}
	line("rests on", "nodes and network in memory: no evidence about Redis itself")
}

// stepText is a step in the notation of scenario files.
func stepText(s faults.Spec) string {
	text, err := json.Marshal(s)
	if err != nil {
		return s.Fault
	}
	return string(text)
}
