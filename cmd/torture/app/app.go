// Package app is the command torture, which finds out whether a distributed lock on Redis is
// safe, how it fails, and how much it can carry.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"locktorture/cmd/torture/internal/crash"
	"locktorture/cmd/torture/internal/farm"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/cmd/torture/internal/stdio"
	"locktorture/workload/history/printable"
)

// Exit codes beside those of the verdicts (checker.Verdict.Exit).
const (
	exitUsage       = 64
	exitHarness     = 70
	exitInterrupted = 130
)

// An exitCode ends the command with a code and no further message.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// A harnessError is a failure of the harness itself, not wrong usage.
type harnessError struct{ err error }

func (e harnessError) Error() string { return e.err.Error() }
func (e harnessError) Unwrap() error { return e.err }

// Main is the command: it reads the process's arguments, and ends the process
// with the exit code of what it did. While a run lasts this program runs a second
// time, in Main, to finish the run if the first process crashes: what a program
// does before Main it does twice.
func Main(options ...Option) {
	stdio.IgnoreSIGPIPE()
	args := stdio.Args(printable.HideUserinfo)
	stdout, stderr := stdio.Writer(os.Stdout), stdio.Writer(os.Stderr)
	t, err := newTool(options)
	switch {
	case err != nil:
		os.Exit(exitOf(err, stderr))
	case farm.Playing():
		os.Exit(t.servePlayer())
	case simulate.Working():
		os.Exit(simulate.Serve(t.locks, os.Stdin, stdout, stderr))
	case crash.Monitoring():
		os.Exit(t.finishCrashed(os.Stdin, stdout, stderr))
	}
	t.monitored = true
	os.Exit(t.run(args, stdout, stderr))
}

// Run is Main without the process: it returns the exit code.
func Run(args []string, stdout, stderr io.Writer, options ...Option) int {
	t, err := newTool(options)
	if err != nil {
		return exitOf(err, stderr)
	}
	return t.run(args, stdout, stderr)
}

func (t *tool) run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := interruptible()
	defer stop()
	root := t.root(stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if closing := t.monitor.Close(); closing != nil {
		complain(stderr, fmt.Errorf("end the crash monitor: %w", closing))
	}
	return exitOf(err, stderr)
}

// exitOf is the exit code for err; an error without one is wrong usage. It prints the error, if
// that has a text.
func exitOf(err error, stderr io.Writer) int {
	var code exitCode
	var harness harnessError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &harness):
		complain(stderr, err)
		return exitHarness
	}
	complain(stderr, err)
	return exitUsage
}

// complain prints an error; each line begins with the tool's name, since a part of the error
// may be somebody else's text.
func complain(w io.Writer, err error) {
	for line := range strings.SplitSeq(printable.Lines(printable.HideUserinfo(err.Error())), "\n") {
		fmt.Fprintln(w, "torture:", line)
	}
}

// interruptible returns a context that the first SIGINT, SIGTERM or SIGHUP (its
// terminal went away, and it was not started to outlive that) cancels, so that
// the run heals, judges and reports. The second one ends the process.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			if _, more := <-signals; !more {
				return
			}
			if n > 0 {
				os.Exit(exitInterrupted)
			}
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		<-done
		cancel()
	}
}

func (t *tool) root(stdout, stderr io.Writer) *cobra.Command {
	root := t.newRun("torture", "standard")
	root.Long = "torture runs a Redis lock under contention and faults, and judges what happened.\nWithout a verb it runs the standard scenario: torture = torture run standard."
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentPreRunE = checkFlags
	root.SetFlagErrorFunc(flagError)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.AddCommand(
		newCheck(),
		newCompare(),
		newDoctor(),
		newInit(),
		newInitWrapper(),
		newLs(),
		newReport(),
		newServe(),
		newVersion(),
		t.newBench(),
		t.newCapacity(),
		t.newDemo(),
		t.newEnvelope(),
		t.newGallery(),
		t.newHunt(),
		t.newList(),
		t.newNightly(),
		t.newReplay(),
		t.newRun("run [SCENARIO]", "standard"),
		t.newSelftest(),
		t.newSimulate(),
		t.newWorker(),
	)
	return root
}

// version is the release; a release build sets commit by -ldflags -X.
const version = "0.1.0"

var commit = ""

// revision is the commit that the binary was built from, as far as it knows,
// marked when the tree had changes beside it.
func revision() string {
	if commit != "" {
		return commit
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return revisionOf(build.Settings)
}

func revisionOf(settings []debug.BuildSetting) string {
	id, changed := "unknown", ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision" && s.Value != "":
			id = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+changes"
		}
	}
	return id + changed
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print version, commit and platform",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "torture %s\ncommit %s\n%s %s/%s\n", version, revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
