package run

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/config"
	"locktorture/reports"
)

var (
	soak     = flag.Duration("soak", 3*time.Second, "main phase of TestSoak; from a minute on it must pass, with every receipt, in steady memory")
	soakOut  = flag.String("soak-out", "", "folder that keeps the run of TestSoak")
	soakSeed = flag.Uint64("soak-seed", 1, "seed of TestSoak")
)

const (
	soakJudged = time.Minute     // length from which a soak has enough evidence to be judged
	soakSample = 5 * time.Second // between two looks at the process
	soakGrowth = 1.10            // of the memory, from the third to the fourth quarter
)

// A run under a random schedule of all that the full lock must survive leaves
// nothing behind: no goroutine, connection, child process or temporary file.
// A long one passes, under -race too, and does not grow.
func TestSoak(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	cfg, err := config.Base("standard")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Duration, cfg.TTL, cfg.Seed, cfg.Load.Rate = *soak, 4*time.Second, *soakSeed, 40
	cfg.Faults = config.Faults{Plan: "random"}
	cfg.Floors, cfg.PerMinute = nil, nil
	cfg.Testbed = "process"
	if *soak < soakJudged {
		cfg.Testbed, cfg.TTL, cfg.Clients = "embedded", 500*time.Millisecond, 4
	}
	if cfg.Out = *soakOut; cfg.Out == "" {
		cfg.Out = t.TempDir()
	}
	files := openFiles(t)
	before := goleak.IgnoreCurrent()
	w := watchMemory(t)
	run, err := Run(t.Context(), cfg, lock(t, cfg.Lock), Options{})
	memory := w.stop()
	if err != nil {
		t.Fatal(err)
	}
	if err := goleak.Find(before, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial")); err != nil {
		t.Error(err)
	}
	if now := openFiles(t); now > files {
		t.Errorf("%d open files and connections, %d before", now, files)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
		t.Errorf("temporary files are left: %q", left)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("children are left: %q", left)
	}
	if len(run.Harness) > 0 || len(run.Report.Violations) > 0 {
		t.Errorf("harness %q, violations %+v", run.Harness, run.Report.Violations)
	}
	if *soak >= soakJudged {
		judgeSoak(t, run, memory)
	}
}

// judgeSoak judges a soak that was long enough.
func judgeSoak(t *testing.T, run *reports.Run, memory *memoryWatch) {
	if v := run.Verdict(); v != checker.Pass {
		t.Errorf("verdict %s: %+v", v, run.Report.Inconclusive)
	}
	for _, f := range run.Stats.Faults {
		if !f.TookEffect || !f.Mended() {
			t.Errorf("fault without a receipt or a heal: %+v", f)
		}
	}
	t.Logf("%d faults; every %v: resident MB %v, live heap kB %v", len(run.Stats.Faults), soakSample, memory.resident, memory.live)
	steady(t, "live heap in kB", memory.live)
	if !raceDetector { // its own memory is resident too, and grows with all that was ever allocated
		steady(t, "resident memory in MB", memory.resident)
	}
}

// steady fails the test when samples grow in their second half.
func steady(t *testing.T, what string, samples []int) {
	t.Helper()
	n := len(samples)
	third, fourth := mean(samples[n/2:n*3/4]), mean(samples[n*3/4:])
	t.Logf("%s: third quarter %.1f, fourth %.1f", what, third, fourth)
	if fourth > third*soakGrowth {
		t.Errorf("%s grew from %.1f in the third quarter to %.1f in the fourth", what, third, fourth)
	}
}

func mean(all []int) float64 {
	sum := 0
	for _, x := range all {
		sum += x
	}
	return float64(sum) / float64(max(len(all), 1))
}

// memoryWatch samples the memory of this process: what is resident, in MB, and
// what the last collection found alive on the heap, in kB. Heap profiles of
// the middle and the end are kept where the run is.
type memoryWatch struct {
	end            chan struct{}
	wg             sync.WaitGroup
	resident, live []int
}

func watchMemory(t *testing.T) *memoryWatch {
	w := &memoryWatch{end: make(chan struct{})}
	w.wg.Go(func() {
		tick := time.NewTicker(soakSample)
		defer tick.Stop()
		for began, half := time.Now(), false; ; {
			select {
			case <-w.end:
				return
			case <-tick.C:
				w.resident, w.live = append(w.resident, resident(t)), append(w.live, live())
				t.Logf("%d MB resident, %d kB alive, %d goroutines", w.resident[len(w.resident)-1], w.live[len(w.live)-1], runtime.NumGoroutine())
			}
			if passed := time.Since(began); !half && passed > *soak/2 || passed > *soak-2*soakSample {
				half = true
				profileHeap(t, fmt.Sprintf("heap-%ds.pprof", int(passed.Seconds())))
			}
		}
	})
	return w
}

func (w *memoryWatch) stop() *memoryWatch {
	close(w.end)
	w.wg.Wait()
	return w
}

// live is what the last collection left on the heap, in kB.
func live() int {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64() >> 10)
}

// profileHeap writes a heap profile to the folder that keeps the run.
func profileHeap(t *testing.T, name string) {
	if *soakOut == "" {
		return
	}
	f, err := os.Create(filepath.Join(*soakOut, name))
	if err == nil {
		err = errors.Join(pprof.Lookup("heap").WriteTo(f, 0), f.Close())
	}
	if err != nil {
		t.Error(err)
	}
}

// resident returns the resident set of this process in MB, or what the runtime
// has in use where there is no /proc.
func resident(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.Sys >> 20)
	}
	pages, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Error(err)
	}
	return pages * os.Getpagesize() >> 20
}

// openFiles counts the open files and connections of this process; 0 where
// there is no /proc.
func openFiles(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Logf("open files are not counted: %v", err)
	}
	return len(all)
}

// children lists the child processes of this one; none where there is no /proc.
func children(t *testing.T) []string {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Error(err)
	}
	var all []string
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread may have ended meanwhile
		all = append(all, strings.Fields(string(text))...)
	}
	return slices.Compact(all)
}
