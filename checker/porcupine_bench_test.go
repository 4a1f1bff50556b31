package checker

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"locktorture/workload/history"
)

// BenchmarkPorcupine judges mutual exclusion alone with a general checker, on
// acquires and releases without unknown outcomes, where it is at its best. The
// judge is told the same operations; it looks for everything (all), or for
// double grants alone (mutex). They take turns, and x is how many times as long
// Porcupine takes: the median, with the extremes.
func BenchmarkPorcupine(b *testing.B) {
	for _, c := range []struct{ ops, keys int }{{1e6, 100}, {1e5, 1}} {
		b.Run(strconv.Itoa(c.ops)+"x"+strconv.Itoa(c.keys), func(b *testing.B) {
			h := lockOperations(c.ops, c.keys)
			ops, model := mutexOperations(h.Events), mutexModel()
			if len(ops) < c.ops {
				b.Fatalf("%d operations for Porcupine, want %d", len(ops), c.ops)
			}
			var all, mutex, allCPU, mutexCPU []float64
			for b.Loop() {
				theirs := took(func() {
					if porcupine.CheckOperationsTimeout(model, ops, time.Minute) != porcupine.Ok {
						b.Fatal("not linearizable, or out of time")
					}
				})
				ours := took(func() { Check(b.Context(), h, Options{}) })
				alone := took(func() { checkMutex(b, h) })
				all, allCPU = append(all, theirs.wall/ours.wall), append(allCPU, theirs.cpu/ours.cpu)
				mutex, mutexCPU = append(mutex, theirs.wall/alone.wall), append(mutexCPU, theirs.cpu/alone.cpu)
			}
			for name, ratios := range map[string][]float64{"all-x-wall": all, "all-x-cpu": allCPU, "mutex-x-wall": mutex, "mutex-x-cpu": mutexCPU} {
				slices.Sort(ratios)
				b.ReportMetric(ratios[len(ratios)/2], name)
				b.Logf("%s %.1f (%.1f to %.1f)", name, ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
			}
		})
	}
}

// lockOperations makes a history of at least n acquires and releases that
// succeed, by 10 clients.
func lockOperations(n, keys int) history.History {
	var buf history.Buffer
	g := newGenerator(keys, 10, 7, buf.Event)
	g.wait, g.bare = true, true
	for len(buf.Events) < 2*n+2*len(g.clients) {
		g.operations(100)
	}
	g.finish()
	return history.History{Header: g.header(), Events: buf.Events}
}

// checkMutex judges h by the rule of mutual exclusion alone.
func checkMutex(b *testing.B, h history.History) {
	j := load{mutex: true}.judge(h.Header)
	j.Events(h.Events)
	if r := j.Finish(b.Context(), false); len(r.Violations) > 0 {
		b.Fatal(short(r.Violations))
	}
}

// A cost is a time on the clock and of the processors, in seconds.
type cost struct{ wall, cpu float64 }

func took(do func()) cost {
	start, busy := time.Now(), cpu()
	do()
	return cost{time.Since(start).Seconds(), (cpu() - busy).Seconds()}
}

// A mutexMove is an acquire that succeeded, or a release.
type mutexMove struct {
	key   string
	owner string
	take  bool
}

// mutexModel is a lock without time: taken when free, released by its owner.
func mutexModel() porcupine.Model {
	return porcupine.Model{
		Partition: func(all []porcupine.Operation) [][]porcupine.Operation {
			by := map[string][]porcupine.Operation{}
			for _, o := range all {
				k := o.Input.(mutexMove).key
				by[k] = append(by[k], o)
			}
			var out [][]porcupine.Operation
			for _, ops := range by {
				out = append(out, ops)
			}
			return out
		},
		Init: func() any { return "" },
		Step: func(state, input, _ any) (bool, any) {
			m := input.(mutexMove)
			if m.take {
				return state == "", m.owner
			}
			return state == m.owner, ""
		},
	}
}

func mutexOperations(events []history.Event) []porcupine.Operation {
	open := map[int]history.Event{}
	var out []porcupine.Operation
	for _, e := range events {
		switch {
		case e.Op != history.Acquire && e.Op != history.Release || e.Kind == history.Fail:
		case e.Kind == history.Invoke:
			open[e.Process] = e
		default:
			out = append(out, porcupine.Operation{
				ClientId: e.Process, Call: int64(open[e.Process].Time), Return: int64(e.Time),
				Input: mutexMove{e.Key, e.Owner, e.Op == history.Acquire},
			})
		}
	}
	return out
}
