package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locktorture/checker"
	"locktorture/checker/execjudge"
	"locktorture/cmd/torture/internal/periodic"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/stdio"
	"locktorture/reports"
	"locktorture/reports/terminal"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
	"locktorture/workload/history/printable"
)

// A checkCommand is `torture check`.
type checkCommand struct {
	json    bool
	out     string
	explain string
	window  int
	timeout time.Duration
	judges  []string
	views   string
	warn    io.Writer // nil: nobody is warned
}

func newCheck() *cobra.Command {
	c := &checkCommand{}
	cmd := &cobra.Command{
		Use:   "check [DIR|FILE|-]",
		Short: "judge a stored history; needs no Redis",
		Long: "check judges the history in a run directory, in a file (.jsonl, .jsonl.zst or .jsonl.gz), in a\n" +
			"pipe or on standard input (-). It exits by the verdict: PASS 0, FAIL 1, INCONCLUSIVE 3, SLO BREACH 4, HARNESS ERROR 70; with 64\n" +
			"when the history breaks the format, and with 130 when it is interrupted. A run counted back from the latest (-1) is written after --,\n" +
			"as in: torture check --json -- -1.",
		Args: cobra.MaximumNArgs(1),
		RunE: c.run,
	}
	f := cmd.Flags()
	f.BoolVar(&c.json, "json", false, "print the report as one JSON object on standard output")
	f.StringVar(&c.out, "out", runsFolder, "folder of the run directories that latest, -1, … refer to")
	f.StringVar(&c.explain, "explain", "", "explain one violation at length, e.g. M-1")
	f.IntVar(&c.window, "window", 0, fmt.Sprintf("grants of one key that the second opinion looks at together, 2 to %d (default 16)", checker.MaxWindow))
	f.DurationVar(&c.timeout, "check-timeout", 0, "how long judging may take; what is judged by then counts. By default the rules take what they need, and the second opinion 30s")
	f.StringArrayVar(&c.judges, "judge", nil, "a judge of your own as well, e.g. exec:./my-judge (see checker/README.md); may be repeated")
	f.StringVar(&c.views, "views", "", "folder for Porcupine's pictures of the windows around anomalies")
	return cmd
}

func (c *checkCommand) run(cmd *cobra.Command, args []string) error {
	if c.window != 0 && (c.window < 2 || c.window > checker.MaxWindow) {
		return fmt.Errorf("--window %d: want 2 to %d", c.window, checker.MaxWindow)
	}
	if c.timeout < 0 {
		return fmt.Errorf("--check-timeout %s: want more than 0", c.timeout)
	}
	if c.json && c.explain != "" {
		return errors.New("--json and --explain exclude each other: --json prints every violation")
	}
	if c.explain != "" && !mayBeNumber(c.explain) {
		return fmt.Errorf("--explain %q: %w", c.explain, errNoNumber)
	}
	for _, text := range c.judges {
		if _, err := judgeCommand(text); err != nil {
			return err
		}
	}
	if info, err := os.Stat(c.views); err == nil && !info.IsDir() {
		return fmt.Errorf("--views is %q: want a folder, or a name that nothing has yet", c.views)
	}
	path := reports.Latest
	if len(args) == 1 {
		path = args[0]
	}
	source, err := locate(cmd, c.out, path)
	if err != nil {
		return err
	}
	remove := func() {}
	if c.explain != "" {
		if remove, err = source.spool(cmd.Context(), c.timeout); err != nil {
			return harnessError{err}
		}
	}
	defer remove()
	c.warn = cmd.ErrOrStderr()
	stop := remind(c.warn, "judging "+source.where)
	report, err := source.judge(cmd.Context(), c)
	stop()
	if err != nil {
		return err
	}
	if c.views != "" {
		if err := run.WriteViews(c.views, report.Views); err != nil {
			return harnessError{err}
		}
	}
	if c.explain != "" {
		var text bytes.Buffer
		if err := explain(&text, source, report, c.explain); err != nil {
			return err
		}
		remove() // a reader that has gone ends the process at the first line
		if _, err := text.WriteTo(cmd.OutOrStdout()); err != nil {
			return harnessError{err}
		}
		c.printViews(cmd.OutOrStdout(), report)
		return judged(cmd.OutOrStdout(), report)
	}
	return c.printReport(cmd, report)
}

// A stored is a history that can be opened.
type stored struct {
	path   string // streamed, or of a file or a run directory
	where  string // for people
	stream io.Reader
	ours   bool // a run directory's
}

// streamed is the path of what can be read once only: standard input, or a pipe.
const streamed = "-"

// writerWait is how long check waits for somebody to open a pipe for writing.
const writerWait = 30 * time.Second

// locate finds standard input (-), a file, a pipe, or the history of a run.
func locate(cmd *cobra.Command, runs, path string) (*stored, error) {
	s := &stored{path: path, where: path, stream: cmd.InOrStdin()}
	if path == streamed {
		s.where = "standard input"
	} else if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		s.path, s.stream = streamed, &stdio.Pipe{Name: path, Wait: writerWait}
	} else if err != nil || info.IsDir() {
		dir, err := reports.Resolve(runs, path)
		if errors.Is(err, reports.ErrNoSuchRun) {
			return nil, fmt.Errorf("%s: neither a file nor a directory, nor a run below %s", path, runs)
		}
		if err == nil {
			err = run.MergeUnfinished(cmd.Context(), dir)
		}
		if err != nil {
			return nil, err
		}
		s.path, s.where, s.ours = dir, dir, true
	}
	return s, nil
}

// spool copies a stream to a file, so that it can be read twice. What comes after the time is
// up is left out.
func (s *stored) spool(ctx context.Context, timeout time.Duration) (remove func(), err error) {
	if s.path != streamed {
		return func() {}, nil
	}
	ctx, cancel := within(ctx, timeout)
	defer cancel()
	file, err := os.CreateTemp("", "torture-history-*")
	if err != nil {
		return nil, fmt.Errorf("keep %s: %w", s.where, err)
	}
	remove = func() { _ = os.Remove(file.Name()) }
	_, err = io.Copy(file, stdio.Patient(ctx, s.stream))
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	if err = errors.Join(err, file.Close()); err != nil {
		remove()
		return nil, fmt.Errorf("keep %s: %w", s.where, err)
	}
	s.path = file.Name()
	return remove, nil
}

// judge judges the history. One that breaks the format is an error with its
// line, never a verdict.
func (s *stored) judge(ctx context.Context, c *checkCommand) (report checker.Report, err error) {
	ctx, cancel := within(ctx, c.timeout)
	defer cancel()
	source, closer, err := historyfile.Open(s.path, stdio.Patient(ctx, s.stream))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return report, fmt.Errorf("%s: no header came within %s (--check-timeout), so there is nothing to judge", s.where, c.timeout)
	case errors.Is(err, context.Canceled):
		return report, exitCode(exitInterrupted)
	case err != nil:
		return report, s.named(err)
	}
	defer func() {
		if err = errors.Join(err, closer.Close()); err != nil && !errors.As(err, new(exitCode)) {
			err = s.named(err)
		}
	}()
	if odd := source.UnknownFields(); len(odd) > 0 && c.warn != nil {
		fmt.Fprintf(c.warn, "warning: %s, line 1: the header has fields that are unknown and ignored: %s\n", printable.Line(s.where), strings.Join(odd, ", "))
	}
	o := run.Judging()
	o.Window, o.OurStore = c.window, s.ours
	if c.timeout > 0 {
		o.Patience = 0
	}
	own, end, err := c.own(ctx, source.Header())
	if err != nil {
		return report, err
	}
	defer end()
	o.Own = own
	report, err = run.Judge(ctx, source, o)
	if info, gone := os.Stat(s.path); err == nil && gone == nil && info.IsDir() {
		err = run.AddCrash(s.path, &report)
	}
	if errors.Is(err, context.Canceled) {
		err = exitCode(exitInterrupted)
	}
	return report, err
}

// named says of an error which history it is about. What breaks the format
// names the line, and not the file that was read in the end.
func (s *stored) named(err error) error {
	var format *history.FormatError
	if errors.As(err, &format) {
		err = format
	}
	return fmt.Errorf("%s: %w", s.where, err)
}

// execPrefix marks a judge that is a program.
const execPrefix = "exec:"

// judgeCommand is what a --judge says to start.
func judgeCommand(text string) ([]string, error) {
	command, is := strings.CutPrefix(text, execPrefix)
	words := strings.Fields(command)
	if !is || len(words) == 0 {
		return nil, fmt.Errorf("--judge %q: want exec:PROGRAM [ARGUMENTS]", text)
	}
	return words, nil
}

// own starts the judges of --judge.
func (c *checkCommand) own(ctx context.Context, h history.Header) (all []checker.Own, end func(), err error) {
	var started []*execjudge.Judge
	end = func() {
		for _, j := range started {
			_ = j.Close() // its opinion is in, or will never be
		}
	}
	for _, text := range c.judges {
		command, err := judgeCommand(text)
		if err != nil {
			end()
			return nil, nil, err
		}
		j, err := execjudge.Start(ctx, command, h)
		if err != nil {
			end()
			return nil, nil, fmt.Errorf("--judge %q: %w", text, err)
		}
		started = append(started, j)
		all = append(all, j)
	}
	return all, end, nil
}

// judgeFile judges the history of a run directory.
func judgeFile(cmd *cobra.Command, runs, path string) (checker.Report, error) {
	s, err := locate(cmd, runs, path)
	if err != nil {
		return checker.Report{}, err
	}
	defer remind(cmd.ErrOrStderr(), "judging "+s.where)()
	return s.judge(cmd.Context(), &checkCommand{warn: cmd.ErrOrStderr()})
}

func (c *checkCommand) printReport(cmd *cobra.Command, report checker.Report) error {
	if !c.json {
		printFindings(cmd.OutOrStdout(), printable.Of(report))
		c.printViews(cmd.OutOrStdout(), report)
		return judged(cmd.OutOrStdout(), report)
	}
	if err := printJSON(cmd.OutOrStdout(), report); err != nil {
		return harnessError{fmt.Errorf("print report: %w", err)}
	}
	c.printViews(cmd.ErrOrStderr(), report)
	return judged(cmd.ErrOrStderr(), report)
}

// judged prints the last line of a judged history, with what was accepted, and turns
// it into the exit code.
func judged(w io.Writer, report checker.Report) error {
	return lastLine(w, report.Verdict, (&reports.Run{Report: report}).Qualified())
}

// verdict prints the last line and turns it into the exit code.
func verdict(w io.Writer, v checker.Verdict) error { return lastLine(w, v, "") }

func lastLine(w io.Writer, v checker.Verdict, qualified string) error {
	if _, err := fmt.Fprintln(w, terminal.LastLine(v, v.Exit())+qualified); err != nil {
		return harnessError{err}
	}
	return asExit(v.Exit())
}

// within bounds ctx by timeout; 0 is no bound.
func within(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

// reminderEvery is how often a verb that works for long says so.
const reminderEvery = 10 * time.Second

// remind says every reminderEvery what is being done, and for how long already, until stop is
// called.
func remind(w io.Writer, what string) (stop func()) {
	began := time.Now()
	return periodic.Start(reminderEvery, func() {
		fmt.Fprintf(w, "%s: for %.0f s\n", printable.Line(what), time.Since(began).Seconds())
	})
}
