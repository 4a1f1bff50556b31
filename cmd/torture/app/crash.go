package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"locktorture/cmd/torture/internal/crash"
	"locktorture/cmd/torture/internal/run"
	"locktorture/workload/history/printable"
)

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

// finishCrashed is the whole work of the second process: it waits for the end of
// the first, and when that crashed, finishes its run as torture report does. Of
// several runs at once nobody can say whose lock it was: they stay unfinished.
func (t *tool) finishCrashed(in io.Reader, stdout, stderr io.Writer) int {
	said, runs, err := crash.Serve(in)
	switch {
	case err != nil:
		complain(stderr, fmt.Errorf("wait for a crash: %w", err))
		return exitHarness
	case said == "" || len(runs) == 0:
		return 0
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
		err = show(root, r, output{exit: crash.ExitCode})
	}
	return exitOf(err, stderr)
}
