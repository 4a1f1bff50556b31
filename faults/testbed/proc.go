package testbed

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// processState returns the state letter of a process, T for a stopped one: from
// /proc, or from ps where there is none.
func processState(ctx context.Context, pid int) (state string, exists bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return askPs(ctx, pid, "state=")
	}
	// The second field is the program's name in parentheses and may hold any character.
	_, state, _ = strings.Cut(string(b[strings.LastIndexByte(string(b), ')')+1:]), " ")
	return state, true
}

// processArgs returns the command line of a process that still runs. One that is
// dying has none any more; it is waited for, as briefly as dying takes.
func processArgs(ctx context.Context, pid int) (args string, exists bool) {
	ctx, cancel := context.WithTimeout(ctx, deathWait)
	defer cancel()
	for {
		if state, exists := processState(ctx, pid); !exists || strings.HasPrefix(state, "Z") {
			return "", false
		}
		if args, exists = readArgs(ctx, pid); args != "" {
			return args, exists
		}
		select {
		case <-ctx.Done():
			return "", true
		case <-time.After(readyPoll):
		}
	}
}

func readArgs(ctx context.Context, pid int) (args string, exists bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return askPs(ctx, pid, "args=")
	}
	return strings.ReplaceAll(string(b), "\x00", " "), true
}

func askPs(ctx context.Context, pid int, column string) (string, bool) {
	out, err := exec.CommandContext(ctx, "ps", "-o", column, "-p", strconv.Itoa(pid)).Output()
	text := strings.TrimSpace(string(out))
	return text, err == nil && text != ""
}

// processStart says when a process began, in units that depend on the system;
// empty when there is none, or only its zombie.
func processStart(ctx context.Context, pid int) string {
	if state, exists := processState(ctx, pid); !exists || strings.HasPrefix(state, "Z") {
		return ""
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		began, _ := askPs(ctx, pid, "lstart=")
		return began
	}
	const startTime = 19 // of the fields after the program's name
	if fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:])); len(fields) > startTime {
		return fields[startTime]
	}
	return ""
}
