package measure

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/procfs"

	"locktorture/reports/capacity"
	"locktorture/reports/unit"
)

// cpuTime is the processor time, user and system, that a process has used so
// far; 0 where /proc does not tell. The scheduler counts in nanoseconds, for
// every thread that still lives, and the process as a whole in hundredths of a
// second.
func cpuTime(pid int) time.Duration {
	if fine := threadTimes(pid); fine > 0 {
		return fine
	}
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	stat, err := p.Stat()
	if err != nil {
		return 0
	}
	return time.Duration(stat.CPUTime() * float64(time.Second))
}

// threadTimes adds up what the scheduler says of each thread.
func threadTimes(pid int) (sum time.Duration) {
	threads, err := procfs.AllThreads(pid)
	if err != nil {
		return 0
	}
	for _, t := range threads {
		if stat, err := t.Schedstat(); err == nil { // the thread may have ended
			sum += time.Duration(stat.RunningNanoseconds)
		}
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
	busy, total float64 // of the machine, in seconds
	steal       float64 // of these, taken by the host
	unknown     bool    // a server runs here, and nobody can tell which process it is
}

// Usage reads the processor times.
func (s *Servers) Usage() Usage {
	u := Usage{at: time.Now(), unknown: slices.Contains(s.places, unseen)}
	u.redis, u.harness = s.CPUTimes()
	u.busy, u.total, u.steal = machineTimes()
	return u
}

// machineTimes is the time of all processors since the machine began, in seconds;
// guest time is part of user time.
func machineTimes() (busy, total, steal float64) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, 0, 0
	}
	stat, err := fs.Stat()
	if err != nil {
		return 0, 0, 0
	}
	c := stat.CPUTotal
	busy = c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal
	return busy, busy + c.Idle + c.Iowait, c.Steal
}

// Since is the share of the processors that was busy since before.
func (u Usage) Since(before Usage, masters int) capacity.Busy {
	return u.since(before, masters, runtime.NumCPU())
}

func (u Usage) since(before Usage, masters, cpus int) capacity.Busy {
	wall := u.at.Sub(before.at).Seconds()
	b := capacity.Busy{Harness: (u.harness - before.harness).Seconds() / wall, CPUs: cpus}
	for i := range masters {
		b.Redis = append(b.Redis, (u.redis[i]-before.redis[i]).Seconds()/wall)
	}
	if u.total > before.total {
		b.Machine = (u.busy - before.busy) / (u.total - before.total)
		b.Others = u.others(before, b)
	}
	return b
}

// others is what is left of the machine's busy time without this process and the
// servers that run on it. Where one of these is no process that is seen, that is what the
// host took, and no more is known: see Notes.
func (u Usage) others(before Usage, b capacity.Busy) float64 {
	if u.unknown {
		return (u.steal - before.steal) / (u.total - before.total)
	}
	ours, wall := b.Harness, u.at.Sub(before.at).Seconds()
	for i, used := range u.redis {
		ours += (used - before.redis[i]).Seconds() / wall
	}
	return max(0, b.Machine-ours/float64(b.CPUs))
}

// TooBusy is the share of all processors that other programs may take while
// something is measured.
const TooBusy = 0.15

// Disturbed says why what was measured meanwhile says little about locks; "" when
// nothing speaks against it.
func Disturbed(b capacity.Busy) string {
	if b.Others <= TooBusy {
		return ""
	}
	return fmt.Sprintf("other programs took %s of the processors", unit.Percent(b.Others))
}

// Tries is how often something is measured while other programs disturb it, before
// the last figure is taken as it is.
const Tries = 3

// Undisturbed measures until nothing disturbs it, so many times at most, and says what
// disturbed the last time: other programs, the host, or that this process stood still.
func (s *Servers) Undisturbed(ctx context.Context, masters, tries int, measure func()) (why string) {
	for range tries {
		before, began, stood := s.Usage(), time.Now(), watchStandstill()
		measure()
		took, longest := time.Since(began), stood()
		if why = cmp.Or(Disturbed(s.Usage().Since(before, masters)), stoodStill(longest, took)); why == "" || ctx.Err() != nil {
			break
		}
	}
	return why
}

// probeEvery is how often it is looked whether this process gets to run.
const probeEvery = 5 * time.Millisecond

// watchStandstill begins to look how long this process stands still at a stretch, until
// what it returns is called, which says so.
func watchStandstill() (longest func() time.Duration) {
	stop, found := make(chan struct{}), make(chan time.Duration)
	go func() {
		most, tick := time.Duration(0), time.NewTimer(probeEvery)
		defer tick.Stop()
		for before := time.Now(); ; {
			done := false
			select {
			case <-tick.C:
			case <-stop:
				done = true
			}
			now := time.Now()
			if most = max(most, now.Sub(before)-probeEvery); done {
				found <- most
				return
			}
			before = now
			tick.Reset(probeEvery)
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-found
	}
}

// stoodStill says why a measurement says little during which this process did not get to
// run for as large a part of the time as other programs may take.
func stoodStill(longest, took time.Duration) string {
	if longest.Seconds() <= TooBusy*took.Seconds() {
		return ""
	}
	return fmt.Sprintf("this process stood still for %s of %s", unit.Setting(longest.Round(time.Millisecond)), unit.Setting(took.Round(time.Millisecond)))
}
