// Package proc starts, looks at and ends the processes of servers.
package proc

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// State returns the state letter of a process, T for a stopped one: from
// /proc, or from ps where there is none.
func State(ctx context.Context, pid int) (state string, exists bool) {
	if stat, err := statOf(pid); err == nil {
		return stat.State, true
	}
	return askPs(ctx, pid, "state=")
}

func statOf(pid int) (procfs.ProcStat, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return p.Stat()
}

// Args returns the command line of a process that still runs. One that is
// dying has none any more; it is waited for, as briefly as dying takes.
func Args(ctx context.Context, pid int) (args string, exists bool) {
	ctx, cancel := context.WithTimeout(ctx, DeathWait)
	defer cancel()
	for {
		if state, exists := State(ctx, pid); !exists || strings.HasPrefix(state, "Z") {
			return "", false
		}
		if args, exists = readArgs(ctx, pid); args != "" {
			return args, exists
		}
		select {
		case <-ctx.Done():
			return "", true
		case <-time.After(Poll):
		}
	}
}

func readArgs(ctx context.Context, pid int) (args string, exists bool) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return askPs(ctx, pid, "args=")
	}
	words, err := p.CmdLine()
	return strings.Join(words, " "), err == nil
}

func askPs(ctx context.Context, pid int, column string) (string, bool) {
	out, err := exec.CommandContext(ctx, "ps", "-o", column, "-p", strconv.Itoa(pid)).Output()
	text := strings.TrimSpace(string(out))
	return text, err == nil && text != ""
}

// Began says when a process began, in units that depend on the system;
// empty when there is none, or only its zombie.
func Began(ctx context.Context, pid int) string {
	if state, exists := State(ctx, pid); !exists || strings.HasPrefix(state, "Z") {
		return ""
	}
	stat, err := statOf(pid)
	if err != nil {
		began, _ := askPs(ctx, pid, "lstart=")
		return began
	}
	return strconv.FormatUint(stat.Starttime, 10)
}
