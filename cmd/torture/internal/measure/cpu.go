package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"locktorture/reports/capacity"
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

// CPUTimes is the processor time of each server and of this process.
func (s *Servers) CPUTimes() (servers []time.Duration, harness time.Duration) {
	for _, pid := range s.pids {
		servers = append(servers, cpuTime(pid))
	}
	return servers, cpuTime(os.Getpid())
}

// A Usage is processor time used so far.
type Usage struct {
	at          time.Time
	redis       []time.Duration
	harness     time.Duration
	busy, total float64 // of the machine, in ticks
}

// Usage reads the processor times.
func (s *Servers) Usage() Usage {
	u := Usage{at: time.Now()}
	u.redis, u.harness = s.CPUTimes()
	u.busy, u.total = machineTimes()
	return u
}

// machineTimes reads the first line of /proc/stat: user, nice, system, idle,
// iowait, and the rest.
func machineTimes() (busy, total float64) {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	for i, word := range strings.Fields(line)[1:] {
		v, _ := strconv.ParseFloat(word, 64)
		if i >= 8 { // guest time is part of user time
			break
		}
		total += v
		if i != 3 && i != 4 {
			busy += v
		}
	}
	return busy, total
}

// Since is the share of the processors that was busy since before.
func (u Usage) Since(before Usage, masters int) capacity.Busy {
	wall := u.at.Sub(before.at).Seconds()
	b := capacity.Busy{Harness: (u.harness - before.harness).Seconds() / wall, CPUs: runtime.NumCPU()}
	for i := range masters {
		b.Redis = append(b.Redis, (u.redis[i]-before.redis[i]).Seconds()/wall)
	}
	if u.total > before.total {
		b.Machine = (u.busy - before.busy) / (u.total - before.total)
	}
	return b
}
