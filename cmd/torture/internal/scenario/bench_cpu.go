package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of the processor times in /proc: Linux gives user space
// hundredths of a second on every architecture.
const tick = 10 * time.Millisecond

// cpuTime is the processor time, user and system, that a process has used so
// far; 0 where /proc does not tell. The scheduler counts in nanoseconds, for
// every thread that still lives, and the process as a whole in hundredths of a
// second.
func cpuTime(pid int) time.Duration {
	if fine := threadTimes(pid); fine > 0 {
		return fine
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The program's name, in parentheses, may hold any character.
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick
}

// threadTimes adds up what the scheduler says of each thread.
func threadTimes(pid int) (sum time.Duration) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		ran, _, _ := strings.Cut(string(raw), " ")
		ns, _ := strconv.ParseInt(ran, 10, 64)
		sum += time.Duration(ns)
	}
	return sum
}

// cpuTimes is the processor time of each server and of this process.
func (f *field) cpuTimes() (servers []time.Duration, harness time.Duration) {
	for _, pid := range f.pids {
		servers = append(servers, cpuTime(pid))
	}
	return servers, cpuTime(os.Getpid())
}
