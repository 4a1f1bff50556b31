package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"locktorture/checker/anomaly"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/hunt"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/search"
	faultcatalogue "locktorture/faults/catalogue"
	"locktorture/faults/testbed"
	"locktorture/reports"
	"locktorture/reports/terminal"
	"locktorture/reports/unit"
	"locktorture/workload/history/printable"
)

// A huntCommand is `torture hunt`.
type huntCommand struct {
	*tool
	output
	cfg     hunt.Config
	lock    string
	testbed string
	nodes   int
	fenced  *bool // nil: as the lock's page says
	resume  string
	out     string
	farm    farmFlags
}

func (t *tool) newHunt() *cobra.Command {
	h := &huntCommand{tool: t}
	cmd := &cobra.Command{
		Use:   "hunt",
		Short: "search load, modes and faults for what breaks a lock, and shrink what is found",
		Long: "hunt plays short rounds of load and faults against a lock, several at once, each on servers of its own: first those\n" +
			"that broke it in virtual time, then rounds drawn at random, each with a few kinds of faults, then variations of rounds that\n" +
			"reached something new: a phase under a fault, a state, or a near miss that no earlier round had. Findings are shrunk (fewer\n" +
			"steps, clients and keys, a shorter round) as long as they still occur, and printed as one command, a scenario file and a\n" +
			"witness. It exits with 1 when it found something that is not accepted, with 0 when it found nothing, with 3 when too little\n" +
			"ran. Ctrl-C keeps what was found; --resume continues the hunt.",
		Args: cobra.NoArgs,
		RunE: h.run,
	}
	f := cmd.Flags()
	f.StringVar(&h.lock, "lock", "redlock", "lock under test (see: torture list locks), or exec:COMMAND")
	f.DurationVar(&h.cfg.Budget, "budget", 10*time.Minute, "time for all of it")
	f.Uint64Var(&h.cfg.Seed, "seed", 0, "seed of everything random; 0: a random one")
	f.IntVar(&h.cfg.Jobs, "jobs", 3*runtime.NumCPU(), "rounds at once; fewer while the machine is too busy to judge by time")
	f.IntVar(&h.cfg.Scouts, "scouts", runtime.NumCPU(), "processes that first look, for an eighth of the budget at most, for rounds that break the lock in virtual time; 0: none")
	f.IntVar(&h.nodes, "nodes", 0, "number of Redis masters; 0: as many as the lock is made for")
	f.StringVar(&h.testbed, "testbed", testbed.KindAuto, "one of "+strings.Join(huntBeds, ", "))
	f.StringSliceVar(&h.cfg.Accept, "accept", nil, "anomalies to report without failing the hunt, e.g. S3z,S3")
	f.StringSliceVar(&h.cfg.Without, "without", nil, "faults that are not drawn (see: torture list faults)")
	f.BoolVar(&h.cfg.Beyond, "beyond", false, "also draw faults that break the assumptions of correct locks: clocks that jump, eviction, a single master that forgets")
	f.IntVar(&h.cfg.Rounds, "rounds", 0, "end after so many rounds, over all sessions; 0: only the budget ends it")
	f.Bool("fenced", false, "whether the guarded store rejects stale tokens; not given: as the lock's page says")
	h.farm.add(f)
	f.StringVar(&h.resume, "resume", "", "directory of a hunt to go on with, for another budget, or latest")
	f.StringVar(&h.out, "out", runsFolder, "folder in which the hunt's directory is made")
	h.addFlags(f, "hunt.json")
	return cmd
}

func (h *huntCommand) run(cmd *cobra.Command, _ []string) error {
	earlier, err := h.earlier(cmd)
	if err != nil {
		return err
	}
	if on, err := cmd.Flags().GetBool("fenced"); err == nil && cmd.Flags().Changed("fenced") {
		h.fenced = &on
	}
	if err := h.resolve(); err != nil {
		return err
	}
	isFarm, err := h.farm.on()
	if err != nil {
		return err
	}
	discard, err := run.PrepareOut(h.out)
	if err != nil {
		return startError(cmd.Context(), err)
	}
	defer discard()
	if isFarm && !cmd.Flags().Changed("jobs") {
		h.cfg.Jobs = farmJobs
	}
	r, err := h.hunt(cmd, earlier, isFarm)
	if err != nil {
		return err
	}
	return h.conclude(cmd, r)
}

// farmJobs is how many rounds a farm has at once where --jobs does not say: enough for
// several workers, and few enough to learn from.
const farmJobs = 24

// fixed are the flags that a hunt keeps when it is resumed.
var fixed = []string{"lock", "nodes", "testbed", "seed", "beyond", "without", "fenced"}

// earlier is the hunt to go on with, or nil, and takes its settings over.
func (h *huntCommand) earlier(cmd *cobra.Command) (*hunt.Report, error) {
	if h.resume == "" {
		return nil, nil
	}
	for _, name := range fixed {
		if cmd.Flags().Changed(name) {
			return nil, fmt.Errorf("--%s beside --resume %s: that hunt has its own; leave one of both out", name, h.resume)
		}
	}
	dir, err := resumed(h.resume, h.out, "hunt", hunt.ResultsFile)
	if err != nil {
		return nil, err
	}
	r, err := hunt.Load(dir)
	if err != nil {
		return nil, fmt.Errorf("--resume %s: %w", h.resume, err)
	}
	h.cfg.Dir, h.lock, h.nodes, h.testbed, h.fenced = dir, r.Lock, r.Nodes, r.Testbed, r.Fenced
	h.cfg.Seed, h.cfg.Beyond, h.cfg.Without = r.Seed, r.Beyond, r.Without
	if !cmd.Flags().Changed("accept") {
		h.cfg.Accept = r.Accept
	}
	if !cmd.Flags().Changed("rounds") {
		h.cfg.Rounds = r.MostRounds
	}
	if n := len(r.Rounds); h.cfg.Rounds > 0 && n >= h.cfg.Rounds {
		return nil, fmt.Errorf("--resume %s: of %s it has played %d: ask for more with --rounds, or for no end but the budget's with --rounds 0", h.resume, unit.Counted(h.cfg.Rounds, "round"), n)
	}
	return r, nil
}

// resumed is the directory that --resume names: itself, or in out the latest of those
// that bear the first word of what they are, and have a file.
func resumed(name, out, what, file string) (dir string, err error) {
	if name != reports.Latest {
		return name, nil
	}
	all, err := filepath.Glob(filepath.Join(out, "*-"+strings.Fields(what)[0]+"-*", file))
	if err != nil || len(all) == 0 {
		return "", fmt.Errorf("--resume %s: there is no %s in %s", name, what, out)
	}
	return filepath.Dir(slices.Max(all)), nil // names begin with the time
}

// resolve names the first flag that cannot work.
func (h *huntCommand) resolve() error {
	switch {
	case h.cfg.Budget <= 0:
		return fmt.Errorf("--budget is %v: above 0, such as 10m", h.cfg.Budget)
	case h.cfg.Rounds < 0:
		return fmt.Errorf("--rounds is %d: 0 or more", h.cfg.Rounds)
	case h.cfg.Jobs < 1:
		return fmt.Errorf("--jobs is %d: at least 1", h.cfg.Jobs)
	case h.cfg.Scouts < 0:
		return fmt.Errorf("--scouts is %d: 0 or more", h.cfg.Scouts)
	case !slices.Contains(huntBeds, h.testbed):
		return fmt.Errorf("--testbed %q: one of %s%s", h.testbed, strings.Join(huntBeds, ", "), config.DidYouMean(h.testbed, huntBeds))
	}
	for _, id := range h.cfg.Accept {
		if anomaly.Name(id) == "" {
			return fmt.Errorf("--accept %q: ids of anomalies (torture list anomalies)%s", id, config.DidYouMean(id, anomaly.IDs()))
		}
	}
	known := search.FaultNames(func(faultcatalogue.Entry) bool { return true })
	for _, name := range h.cfg.Without {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--without %q: no such fault%s (torture list faults)", name, config.DidYouMean(name, known))
		}
	}
	if h.cfg.Seed == 0 {
		h.cfg.Seed = drawSeed()
	}
	return h.setLock(h.lock)
}

// huntBeds are the testbeds that a hunt may start for each of its rounds.
var huntBeds = []string{testbed.KindAuto, testbed.KindProcess, testbed.KindSentinel, testbed.KindCluster, testbed.KindContainer, testbed.KindEmbedded}

// setLock finds the lock and lays out the scenario of its rounds.
func (h *huntCommand) setLock(id string) (err error) {
	if h.cfg.Lock, err = h.locks.Find(id); err != nil {
		return fmt.Errorf("--lock: %w", err)
	}
	if h.cfg.Base, err = hunt.Base(); err != nil {
		return err
	}
	h.cfg.Base.Lock, h.cfg.Base.Nodes, h.cfg.Base.Testbed, h.cfg.Base.Fenced = id, h.nodes, h.testbed, h.fenced
	return h.validate(h.cfg.Base)
}

// hunt hunts, shows how it goes, and writes what it knows.
func (h *huntCommand) hunt(cmd *cobra.Command, earlier *hunt.Report, isFarm bool) (_ *hunt.Report, err error) {
	if earlier == nil {
		h.cfg.Dir = resultsDir(h.out, "hunt", h.cfg.Seed)
	}
	h.cfg.Version, h.cfg.Commit, h.cfg.Command = version, revision(), commandLine(os.Args[1:], h.cfg.Seed)
	h.cfg.Play = h.playWith
	if !h.monitored { // part of another program, which cannot be started again
		h.cfg.Scouts = 0
	}
	w, opts := h.people(cmd)
	var board *terminal.Board
	var one *hunt.Hunt
	h.cfg.Log = func(line string) { board.Println(line) }
	if isFarm {
		say := lines(cmd.ErrOrStderr())
		if h.cfg.Farm, err = h.farm.open(cmd.Context(), h.cfg.Dir, "hunt "+catalogue.HideSecrets(h.lock)+" in "+h.cfg.Dir, say); err != nil {
			return nil, err
		}
		defer func() { leave(h.cfg.Farm, err == nil && !one.LostFarm(), say) }()
	}
	if one, err = hunt.New(cmd.Context(), h.cfg, earlier); err != nil {
		return nil, harnessError{err}
	}
	board = terminal.NewBoard(w, opts, one.Lines, one.LogLine)
	if !h.quiet {
		h.banner(w, one.Report())
	}
	ctx, cancel := context.WithCancel(context.Background())
	var showing sync.WaitGroup
	showing.Go(func() { board.Run(ctx) })
	r := one.Run(cmd.Context())
	cancel()
	showing.Wait()
	if err := one.Write(r); err != nil {
		return nil, harnessError{err}
	}
	return r, nil
}

func (h *huntCommand) banner(w io.Writer, r *hunt.Report) {
	fmt.Fprintf(w, "torture %s · hunt · seed %s · %s\n", version, unit.Seed(r.Seed), unit.Setting(h.cfg.Budget))
	line := func(label, text string) { fmt.Fprintf(w, "  %-8s%s\n", label, printable.Line(text)) }
	line("lock", fmt.Sprintf("%s  %s", r.Lock, unit.Counted(r.Nodes, "master")))
	line("redis", fmt.Sprintf("testbed %s, one for each round; up to %d at once", r.Testbed, r.Jobs))
	for _, text := range notDrawn(r.LeftOut) {
		line("", text)
	}
	if h.cfg.Farm != nil {
		line("farm", fmt.Sprintf("at %s: workers play, this machine draws and judges what they saw", h.farm.access))
	}
	line("dir", h.cfg.Dir)
	if len(r.Rounds) > 0 {
		line("goes on", fmt.Sprintf("after %s, %s", unit.Counted(len(r.Rounds), "round"), unit.Counted(len(r.Found), "finding")))
	}
}

// notDrawn says which faults were left out, a line for each reason; those that
// --beyond would draw share one, for the page has each of their reasons.
func notDrawn(leftOut []string) (lines []string) {
	const beyond = "(--beyond)"
	var reasons []string
	names := map[string][]string{}
	for _, text := range leftOut {
		name, why, _ := strings.Cut(text, ": ")
		if strings.HasSuffix(why, beyond) {
			why = beyond
		}
		if names[why] == nil {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], name)
	}
	for _, why := range reasons {
		all := strings.Join(names[why], " ")
		if why == beyond {
			lines = append(lines, "not drawn without --beyond: "+all)
			continue
		}
		lines = append(lines, "not drawn: "+all+": "+why)
	}
	return lines
}

// conclude prints how the hunt ended and turns that into the exit code.
func (h *huntCommand) conclude(cmd *cobra.Command, r *hunt.Report) error {
	if h.json {
		if err := printJSON(cmd.OutOrStdout(), r); err != nil {
			return harnessError{fmt.Errorf("print hunt: %w", err)}
		}
	}
	w, _ := h.people(cmd)
	if !h.quiet {
		if err := r.Text(w, h.cfg.Dir); err != nil {
			return harnessError{err}
		}
	}
	if r.Interrupted && r.Sums.Rounds == 0 {
		return exitCode(exitInterrupted)
	}
	return verdict(w, r.Verdict)
}
