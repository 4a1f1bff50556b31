package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/faults/testbed"
	"locktorture/lockimpl"
	"locktorture/lockimpl/redlock"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

const (
	recordingRepeats = 15
	recordingSlice   = 300 * time.Millisecond
	recordingTTL     = 5 * time.Second
)

// BenchmarkRecording measures what share of a lock's throughput recording
// takes: pairs a second of the full lock on real Redis, each goroutine on a key
// of its own, with four events a pair recorded in one way or another, as a
// multiple of the same without any. Every repeat runs all of them on the same
// servers, in random order, and a ratio is taken within a repeat.
func BenchmarkRecording(b *testing.B) {
	for _, size := range []struct{ masters, workers int }{{1, 16}, {1, 64}, {5, 16}, {5, 64}} {
		b.Run(fmt.Sprintf("masters=%d/workers=%d", size.masters, size.workers), func(b *testing.B) {
			lock, err := redlock.NewLocker(lockNodes(redistest.Start(b, size.masters)), redlock.Config{FirstTime: true})
			if err != nil {
				b.Fatal(err)
			}
			defer lock.Close()
			if err := lock.Bootstrap(b.Context()); err != nil {
				b.Fatal(err)
			}
			compareRecorders(b, lock, size.workers)
		})
	}
}

func lockNodes(nodes []testbed.Node) (out []lockimpl.Node) {
	for _, n := range nodes {
		out = append(out, lockimpl.Node{Name: n.Name(), Addr: n.Addr()})
	}
	return out
}

// A recording is one way to record.
type recording struct {
	name string
	open func(b *testing.B) (rec *history.Recorder, done func())
}

// kept has room for all that a slice records: what is measured is no growing.
var kept = history.Buffer{Events: make([]history.Event, 0, 1<<17)}

var recordings = []recording{
	{"nothing", func(*testing.B) (*history.Recorder, func()) { return nil, func() {} }},
	{"in-memory", func(*testing.B) (*history.Recorder, func()) {
		kept.Events = kept.Events[:0]
		return history.NewRecorder(&kept), func() {}
	}},
	{"json-lines", func(b *testing.B) (*history.Recorder, func()) { return toFile(b, "history.jsonl") }},
	{"zstd", func(b *testing.B) (*history.Recorder, func()) { return toFile(b, historyfile.Name) }},
	{"zstd-judged", func(b *testing.B) (*history.Recorder, func()) {
		return toFile(b, historyfile.Name, checker.New(history.Header{TTL: recordingTTL}, checker.Options{}))
	}},
}

func toFile(b *testing.B, name string, more ...history.Sink) (*history.Recorder, func()) {
	f, err := historyfile.Create(filepath.Join(b.TempDir(), name), history.Header{TTL: recordingTTL})
	if err != nil {
		b.Fatal(err)
	}
	return history.NewRecorder(append(more, f)...), func() {
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func compareRecorders(b *testing.B, lock lockimpl.Locker, workers int) {
	rates := make([][]float64, len(recordings))
	rng := rand.New(rand.NewPCG(1, 2))
	recordedPairs(b, lock, workers, nil) // opens connections, loads scripts
	for b.Loop() {
		for range recordingRepeats {
			for _, i := range rng.Perm(len(recordings)) {
				rec, done := recordings[i].open(b)
				rates[i] = append(rates[i], recordedPairs(b, lock, workers, rec))
				done()
			}
		}
	}
	for i, r := range recordings[1:] {
		var ratios []float64
		for n, rate := range rates[i+1] {
			ratios = append(ratios, rate/rates[0][n])
		}
		slices.Sort(ratios)
		b.ReportMetric(ratios[len(ratios)/2], "×rate/"+r.name)
		b.Logf("%s: %.3f of the rate without recording (%.3f to %.3f)", r.name, ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
	}
	slices.Sort(rates[0])
	b.ReportMetric(rates[0][len(rates[0])/2], "pairs/s")
	b.ReportMetric(0, "ns/op")
}

// recordedPairs returns how many pairs a second workers make, each on a key of
// its own. Without a recorder nothing is recorded.
func recordedPairs(b *testing.B, lock lockimpl.Locker, workers int, rec *history.Recorder) float64 {
	ctx, cancel := context.WithTimeout(b.Context(), recordingSlice)
	defer cancel()
	var pairs atomic.Int64
	var group errgroup.Group
	for i := range workers {
		group.Go(func() error {
			e := history.Event{Process: i, Key: fmt.Sprintf("k%d", i), Owner: fmt.Sprintf("c%02d", i)}
			note := func(k history.Kind, op history.Op) {
				if rec != nil {
					e.Kind, e.Op = k, op
					rec.Append(e)
				}
			}
			for ctx.Err() == nil {
				note(history.Invoke, history.Acquire)
				lease, err := lock.Acquire(b.Context(), e.Key, recordingTTL)
				if err != nil {
					return err
				}
				e.Fence = lease.Fence()
				note(history.OK, history.Acquire)
				note(history.Invoke, history.Release)
				if err := lease.Release(b.Context()); err != nil {
					return err
				}
				note(history.OK, history.Release)
				pairs.Add(1)
			}
			return nil
		})
	}
	began := time.Now()
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
	return float64(pairs.Load()) / time.Since(began).Seconds()
}
