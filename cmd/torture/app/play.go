package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/crash"
	"locktorture/cmd/torture/internal/run"
	"locktorture/faults/testbed"
	"locktorture/reports"
	"locktorture/reports/stats"
	"locktorture/reports/terminal"
	"locktorture/reports/unit"
	"locktorture/workload/history"
	"locktorture/workload/history/printable"
)

// An output says how a run is shown.
type output struct {
	json    bool   // what machines read on standard output, people's text on standard error
	quiet   bool   // the verdict line alone
	metrics string // where to offer live figures, or empty
	exit    int    // of the process, where that is not the verdict's; 0: the verdict's
	workers *run.Workers
}

// addFlags adds those of a verb whose report for machines is what.
func (o *output) addFlags(f *pflag.FlagSet, what string) {
	f.BoolVar(&o.json, "json", false, "print "+what+" on standard output, all else on standard error")
	f.BoolVar(&o.quiet, "quiet", false, "print the verdict line alone")
}

// play plays cfg against the lock that it names, as far as everything that plays
// does it alike. begin may be nil.
func (t *tool) play(ctx context.Context, cfg config.Config, begin func(run.Beginning) []history.Sink) (*reports.Run, error) {
	return t.playWith(ctx, cfg, run.Options{Begin: begin})
}

// playWith is play with options of the run.
func (t *tool) playWith(ctx context.Context, cfg config.Config, o run.Options) (*reports.Run, error) {
	lock, err := t.locks.Find(cfg.Lock)
	if err != nil {
		return nil, err
	}
	monitor, err := t.monitorCrash()
	if err != nil {
		return nil, harnessError{err}
	}
	o.Version, o.Commit, o.Argv, o.Crash = version, revision(), os.Args, monitor
	return run.Run(ctx, cfg, lock, o)
}

// playAndShow runs cfg, shows it, and turns its verdict into the exit code.
func (t *tool) playAndShow(cmd *cobra.Command, cfg config.Config, o output) error {
	r, err := t.execute(cmd, cfg, o)
	if err != nil {
		w, _ := o.people(cmd)
		return unplayed(cmd, w, err)
	}
	return printRun(cmd, r, o)
}

// unplayed ends a verb whose run left no record: the verdict is a harness error.
func unplayed(cmd *cobra.Command, w io.Writer, err error) error {
	if !errors.As(err, new(harnessError)) {
		return err
	}
	complain(cmd.ErrOrStderr(), err)
	return verdict(w, checker.HarnessError)
}

// execute runs cfg with its live display.
func (t *tool) execute(cmd *cobra.Command, cfg config.Config, o output) (*reports.Run, error) {
	w, opts := o.people(cmd)
	if err := summaryWritable(); err != nil {
		return nil, err
	}
	scrapes, err := o.listen(cmd.Context())
	if err != nil {
		return nil, err
	}
	var live sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	r, err := t.playWith(cmd.Context(), cfg, run.Options{Workers: o.workers, Begin: func(b run.Beginning) []history.Sink {
		_ = banner(b, cfg).Write(w, opts) // a closed terminal ends no run
		figures := stats.New(b.Header)
		snapshot := func() stats.Snapshot {
			now := figures.Snapshot()
			if now.Later = b.Judge == nil; !now.Later {
				now.Found = b.Judge.Live()
			}
			return now
		}
		display := terminal.NewLive(w, opts, terminal.Plan{Duration: b.Meta.Planned, Faults: b.Meta.Faults}, snapshot)
		live.Go(func() { display.Run(ctx) })
		live.Go(func() { reports.WriteLive(ctx, b.Dir, b.Meta.Planned, snapshot) })
		if scrapes != nil {
			live.Go(func() { offer(ctx, scrapes, cmd.ErrOrStderr(), b, snapshot) })
		}
		return []history.Sink{figures, display}
	}})
	cancel()
	live.Wait()
	if scrapes != nil {
		_ = scrapes.Close() // closed already when the run began
	}
	if r != nil { // what came after the load is in the run
		err = nil
	}
	return r, startError(cmd.Context(), err)
}

// startError tells failures of the harness from wrong choices of the user, and from a start
// that the user interrupted.
func startError(ctx context.Context, err error) error {
	start, ok := errors.AsType[run.StartError](err)
	switch {
	case !ok:
		return err
	case ctx.Err() != nil:
		return exitCode(exitInterrupted)
	}
	return harnessError{start}
}

// people returns the writer for text that people read, and how that may be formatted.
func (o output) people(cmd *cobra.Command) (io.Writer, terminal.Options) {
	w := cmd.OutOrStdout()
	if o.json {
		w = cmd.ErrOrStderr()
	}
	tty, width := screen(w)
	return w, terminal.Detect(tty, o.quiet, width, os.Getenv)
}

// screen says whether w is a terminal, and how wide; 0 where nobody knows.
func screen(w io.Writer) (tty bool, width int) {
	if f, ok := w.(*os.File); ok {
		tty = term.IsTerminal(int(f.Fd()))
		width, _, _ = term.GetSize(int(f.Fd()))
	}
	return tty, width
}

// folded writes a text that is printed whole so that it fits the terminal, where w is one.
func folded(w io.Writer, print func(io.Writer) error) error {
	_, width := screen(w)
	var text bytes.Buffer
	if err := print(&text); err != nil {
		return err
	}
	_, err := io.WriteString(w, terminal.Fold(text.String(), width))
	return err
}

func banner(b run.Beginning, cfg config.Config) terminal.Banner {
	redis := fmt.Sprintf("%s, %s (+1 for the guarded store)", servers(b.Meta.Testbed.Name, b.Header.Nodes), b.Meta.Testbed.Version)
	if b.Why != "" {
		redis += ": " + b.Why
	}
	t := terminal.Banner{
		Version: version, Scenario: b.Meta.Scenario, Seed: cfg.Seed, Duration: cfg.Duration,
		Lock: fmt.Sprintf("%s  %s, quorum %d, ttl %s, hold %s · %s · %s",
			b.Lock.ID, unit.Counted(b.Header.Nodes, "master"), b.Header.Quorum, unit.Setting(cfg.TTL), cfg.Load.Hold, unit.Counted(cfg.Clients, "client"), unit.Counted(cfg.Load.Keys, "key")),
		Redis: redis, Load: cfg.Load.String(), PhaseLocked: b.Plan.Steps.PhaseLocked(),
		LeftOut: b.Meta.Testbed.LeftOut, Dir: b.Dir, Canary: true,
	}
	if n := len(b.Meta.Workers); n > 0 {
		t.Lock += " · at " + unit.Counted(n, "worker")
	}
	for _, s := range b.Plan.Steps {
		t.Faults = append(t.Faults, s.Fault.Name())
	}
	if b.Meta.Testbed.Embedded {
		t.Warnings = append(t.Warnings, "embedded nodes: real enough to learn on, no evidence about Redis itself")
	}
	return t
}

// servers says what the n nodes of a testbed are.
func servers(bed string, n int) string {
	switch bed {
	case testbed.KindSentinel:
		return unit.Counted(n, "master") + " under Redis Sentinel, with two replicas"
	case testbed.KindCluster:
		return "a Redis Cluster, in which each key has one master with a replica"
	case testbed.KindCompose:
		return unit.Counted(n, "server") + " of docker-compose.yml"
	case testbed.KindProcess:
		return unit.Counted(n, "local process")
	case testbed.KindEmbedded:
		return unit.Counted(n, "embedded node")
	case testbed.KindContainer:
		return unit.Counted(n, "container")
	}
	return unit.Counted(n, "external server")
}

// printRun prints the result of a run, and ends with the line of its verdict.
func printRun(cmd *cobra.Command, r *reports.Run, o output) error {
	w, opts := o.people(cmd)
	opts.Exit = o.exit
	annotate(cmd, r)
	if o.json {
		results, err := os.ReadFile(filepath.Join(r.Dir, reports.ResultsFile))
		if errors.Is(err, fs.ErrNotExist) {
			results, err = r.JSON()
		}
		if err != nil {
			return harnessError{fmt.Errorf("print results: %w", err)}
		}
		if _, err := io.Copy(cmd.OutOrStdout(), bytes.NewReader(results)); err != nil {
			return harnessError{err}
		}
	}
	if err := terminal.Verdict(w, opts, r); err != nil {
		return harnessError{err}
	}
	return asExit(r.Verdict().Exit())
}

// stepSummary is the variable that names the file of GitHub's step summary.
const stepSummary = "GITHUB_STEP_SUMMARY"

// summaryWritable sees before anything starts whether the step summary can be
// written.
func summaryWritable() error {
	path := os.Getenv(stepSummary)
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("%s is %q: unset it, or name a file that can be written: %w", stepSummary, path, err)
	}
	return f.Close()
}

// annotate adds the run to GitHub's step summary and annotations, where they are
// asked for. A summary that cannot be written is trouble of the harness, which
// counts in the verdict: it is known before that is printed.
func annotate(cmd *cobra.Command, r *reports.Run) {
	path := os.Getenv(stepSummary)
	if path == "" {
		return
	}
	if err := reports.AppendSummary(path, r); err != nil {
		r.Harness = append(r.Harness, stepSummary+": "+err.Error())
		if err := reports.Write(r.Dir, r); err != nil {
			r.Harness = append(r.Harness, err.Error())
		}
	}
	for _, line := range r.Annotations() {
		fmt.Fprintln(cmd.ErrOrStderr(), line)
	}
}

// asExit is nil for 0.
func asExit(code int) error {
	if code == 0 {
		return nil
	}
	return exitCode(code)
}

// monitorCrash returns the process that finishes runs which a crash of this one
// ends, where there is to be one. It is started with the first run.
func (t *tool) monitorCrash() (*crash.Monitor, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.monitored || t.monitor != nil {
		return t.monitor, nil
	}
	var err error
	t.monitor, err = crash.Start()
	return t.monitor, err
}

// afterCrashLimit bounds the cleaning after a crash.
const afterCrashLimit = time.Minute

// clearAway removes what killed runs have left behind.
func clearAway(runs []crash.Run) error {
	ctx, cancel := context.WithTimeout(context.Background(), afterCrashLimit)
	defer cancel()
	var errs []error
	for _, r := range runs {
		if err := run.ClearAway(ctx, r); err != nil {
			errs = append(errs, harnessError{fmt.Errorf("clear away what %s left: %w", r.Dir, err)})
		}
	}
	return errors.Join(errs...)
}

// finishCrashed is the whole work of the second process: it waits for the end of
// the first, and when that crashed, finishes its run as torture report does; of one that was
// killed it clears away what is left. Of
// several runs at once nobody can say whose lock it was: they stay unfinished.
func (t *tool) finishCrashed(in io.Reader, stdout, stderr io.Writer) int {
	said, runs, err := crash.Serve(in)
	switch {
	case err != nil:
		complain(stderr, fmt.Errorf("wait for a crash: %w", err))
		return exitHarness
	case len(runs) == 0:
		return 0
	case said == "": // it was killed, or the user did not wait for its end
		return exitOf(clearAway(runs), stderr)
	case len(runs) > 1:
		complain(stderr, errors.New("a panic that nobody could recover ended this process; which of the runs under way it was cannot be told, and these stay unfinished"))
		for _, r := range runs {
			fmt.Fprintln(stderr, "torture:  ", printable.Line(r.Dir))
		}
		return exitHarness
	}
	ctx, cancel := context.WithTimeout(context.Background(), afterCrashLimit)
	defer cancel()
	if err := run.AfterCrash(ctx, runs[0], said); err != nil {
		complain(stderr, fmt.Errorf("clear away what %s left: %w", runs[0].Dir, err))
	}
	root := t.root(stdout, stderr)
	root.SetContext(ctx)
	r, err := rejudge(root, runs[0].Dir)
	if err == nil {
		err = printRun(root, r, output{exit: crash.ExitCode})
	}
	return exitOf(err, stderr)
}
