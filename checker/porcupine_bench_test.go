package checker

import (
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"locktorture/workload/history"
)

// BenchmarkPorcupine judges mutual exclusion alone with a general checker, on
// histories without unknown outcomes, where it is at its best: what the judge's
// figures are compared with. The two take turns, and x is how many times as long
// Porcupine takes.
func BenchmarkPorcupine(b *testing.B) {
	for _, c := range []struct{ ops, keys int }{{1e6, 100}, {1e5, 1}} {
		b.Run(strconv.Itoa(c.ops)+"x"+strconv.Itoa(c.keys), func(b *testing.B) {
			var buf history.Buffer
			g := newGenerator(c.keys, 16, 7, buf.Event)
			g.wait = true
			g.operations(c.ops)
			ops, model := mutexOperations(buf.Events), mutexModel()
			g.end()
			h := history.History{Header: g.header(), Events: buf.Events}
			var theirs, ours, theirCPU, ourCPU time.Duration
			for b.Loop() {
				start, busy := time.Now(), cpu()
				if porcupine.CheckOperationsTimeout(model, ops, time.Minute) != porcupine.Ok {
					b.Fatal("not linearizable, or out of time")
				}
				theirs, theirCPU = theirs+time.Since(start), theirCPU+cpu()-busy
				start, busy = time.Now(), cpu()
				Check(b.Context(), h, Options{})
				ours, ourCPU = ours+time.Since(start), ourCPU+cpu()-busy
			}
			b.ReportMetric(theirs.Seconds()/ours.Seconds(), "x-wall")
			b.ReportMetric(theirCPU.Seconds()/ourCPU.Seconds(), "x-cpu")
		})
	}
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
