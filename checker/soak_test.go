package checker

import (
	"context"
	"flag"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"locktorture/workload/history"
)

var soakEvents = flag.Int("soak", 200_000, "events of the history that TestSoak makes and judges, e.g. 100000000")

// TestSoak judges a long history with one planted double grant while it is
// made: JSON lines through a pipe, with no file anywhere. The violation must be
// found, nothing else, and what is held in memory must not grow in the second
// half.
func TestSoak(t *testing.T) {
	out, in := io.Pipe()
	made := make(chan error, 1)
	go func() { made <- write(in, *soakEvents/2) }()
	source := reader(t, out)
	j := New(source.Header(), Options{Counterfactual: true, SecondOpinion: true})
	began, busy := time.Now(), cpu()
	marks := &memory{at: *soakEvents / 10}
	j.own = append(j.own, &ownState{Own: marks})
	if err := j.read(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	r := j.Finish(t.Context(), source.Truncated())
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	for i := range marks.heap {
		t.Logf("after %3d %%: heap %6.2f MB, process %5.1f MB", (i+1)*10, marks.heap[i], marks.rss[i])
	}
	t.Logf("%d events in %v: %.2f M events/s; %.2f µs of processor time an event, making and encoding included; second opinion %+v",
		r.Checked.Events, took.Round(time.Millisecond), float64(r.Checked.Events)/took.Seconds()/1e6,
		float64((cpu()-busy).Nanoseconds())/1e3/float64(r.Checked.Events), *r.SecondOpinion)
	if len(r.Violations) == 0 || r.Violations[0].ID != "S1" || r.Verdict != Fail {
		t.Errorf("verdict %s, violations %v", r.Verdict, short(r.Violations))
	}
	for _, f := range r.Violations {
		if f.Key != r.Violations[0].Key || f.Witness[0] < *soakEvents/4 {
			t.Errorf("%s on %s at %v was not planted", f.ID, f.Key, f.Witness)
		}
	}
	if len(r.Inconclusive)+len(r.Harness) > 0 {
		t.Errorf("inconclusive %v, harness %v", r.Inconclusive, r.Harness)
	}
	half, end := marks.heap[4], marks.heap[len(marks.heap)-1]
	if end > half*1.25+1 {
		t.Errorf("the heap grew from %.2f MB at half time to %.2f MB", half, end)
	}
}

// write writes a history of n operations to w, with a double grant after half
// of them.
func write(w *io.PipeWriter, n int) error {
	g := newGenerator(100, 64, 7, nil)
	g.plant = n / 8 // of the cycles: an operation in four or so is a grant
	lines, err := history.NewWriter(w, g.header())
	if err != nil {
		return err
	}
	g.emit = lines.Event
	g.operations(n)
	g.finish()
	if err := lines.Flush(); err != nil {
		return err
	}
	return w.Close()
}

// memory is a checker that finds nothing: it notes what is held in memory
// every so many events.
type memory struct {
	at, seen  int
	heap, rss []float64 // in MB
}

func (*memory) Name() string { return "memory" }

func (m *memory) Event(*history.Event) {
	if m.seen++; m.seen%m.at != 0 {
		return
	}
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	m.heap = append(m.heap, float64(s.HeapAlloc)/(1<<20))
	m.rss = append(m.rss, resident())
}

func (*memory) Findings(context.Context) (Opinion, error) { return Opinion{}, nil }

// resident is what this process holds of the machine's memory, in MB; 0 where
// the system does not tell.
func resident() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseFloat(kb, 64)
	if err != nil {
		return 0
	}
	return n / 1024
}
