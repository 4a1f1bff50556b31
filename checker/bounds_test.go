package checker

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/workload/history"
)

// A script makes events at instants of its own choosing.
type script struct {
	events []history.Event
	now    time.Duration
}

func (s *script) add(process int, kind history.Kind, op history.Op, more func(*history.Event)) {
	e := history.Event{Index: len(s.events), Time: s.now, Process: process, Kind: kind, Op: op}
	more(&e)
	s.events = append(s.events, e)
}

// do is an operation of owner n on key, from now to took later.
func (s *script) do(n int, op history.Op, key string, took time.Duration, more ...func(*history.Event)) {
	s.add(n, history.Invoke, op, by(n, key))
	s.now += took
	s.add(n, history.OK, op, func(e *history.Event) {
		by(n, key)(e)
		for _, m := range more {
			m(e)
		}
	})
}

func by(n int, key string) func(*history.Event) {
	return func(e *history.Event) { e.Key, e.Owner = key, fmt.Sprintf("o%d", n) }
}

func until(t time.Duration) func(*history.Event) {
	return func(e *history.Event) { e.ValidUntil, e.Has = t, e.Has|history.HasValidUntil }
}

func (s *script) fault(kind history.Kind, op history.Op, name string) {
	s.add(history.Nemesis, kind, op, func(e *history.Event) {
		e.Fault, e.Target = name, history.NamedTarget("n1")
	})
}

func (s *script) finish() []history.Event {
	s.add(history.Nemesis, history.OK, history.Phase, func(e *history.Event) { e.Value = history.PhaseEnd })
	return s.events
}

// A flood is a history that grows with n, in one of the ways in which work
// could grow faster than n.
type flood struct {
	name string
	n    int // as large as it is judged where -soak asks for more than TestSoak's default, else a tenth
	h    history.Header
	make func(s *script, n int)
}

func floods() []flood {
	second := history.Header{TTL: time.Second, Nodes: 1, Quorum: 1}
	return []flood{
		{"faults and grants", 100_000, second, func(s *script, n int) {
			for i := range n {
				s.fault(history.Invoke, history.Fault, "restart-node")
				s.fault(history.OK, history.Fault, "restart-node")
				s.do(i%7, history.Acquire, "k", 1, until(s.now+time.Second))
				s.do(i%7, history.Extend, "k", 1, func(e *history.Event) { e.Kind = history.Fail })
				s.fault(history.Invoke, history.Heal, "restart-node")
				s.fault(history.OK, history.Heal, "restart-node")
			}
		}},
		{"faults that stay, and grants", 100_000, second, func(s *script, n int) {
			for range n {
				s.fault(history.Invoke, history.Fault, "latency")
			}
			for range n {
				s.fault(history.OK, history.Fault, "latency")
			}
			for i := range n {
				s.do(i%7, history.Acquire, "k", 1, until(s.now+time.Second))
				s.do(i%7, history.Extend, "k", 1, func(e *history.Event) { e.Kind = history.Fail })
			}
			for range n {
				s.fault(history.Invoke, history.Heal, "latency")
			}
		}},
		{"grants of one key at one instant", 10_000, second, func(s *script, n int) {
			for i := range n {
				s.do(i, history.Acquire, "k", 0)
			}
			s.now++
		}},
		{"live grants of one key", 40_000, second, func(s *script, n int) {
			for i := range n {
				s.do(i, history.Acquire, "k", 1)
			}
			for i := range n {
				s.do(i, history.Extend, "k", 1)
			}
			for i := range n {
				s.do(i, history.Release, "k", 1)
			}
		}},
		{"readers of one key", 100_000, second, func(s *script, n int) {
			shared := func(e *history.Event) { e.Mode = history.Shared }
			for i := range n {
				s.add(i, history.Invoke, history.Acquire, func(e *history.Event) { by(i, "k")(e); shared(e) })
				s.now++
				s.add(i, history.OK, history.Acquire, func(e *history.Event) { by(i, "k")(e); shared(e) })
			}
			for i := range n {
				s.do(i, history.Release, "k", 1, shared)
			}
		}},
		{"pairs within the clocks' uncertainty", 100_000, history.Header{TTL: time.Second, Nodes: 1, Quorum: 1, Epsilon: time.Millisecond}, func(s *script, n int) {
			for i := range n {
				k := fmt.Sprint("k", i%1000)
				s.do(i%100, history.Acquire, k, 1)
				s.do(100+i%100, history.Acquire, k, 1)
				s.do(i%100, history.Release, k, 1)
				s.do(100+i%100, history.Release, k, 1)
			}
		}},
		{"late releases", 40_000, history.Header{TTL: time.Second, Nodes: 1, Quorum: 1, OwnerCheckedRelease: new(bool)}, func(s *script, n int) {
			for i := range n {
				s.do(i, history.Acquire, "k", 1, until(s.now+2))
				s.now += 2
			}
			s.do(n, history.Acquire, "k", 1, until(s.now+time.Hour))
			for i := range n {
				s.do(i, history.Release, "k", 1)
			}
			for i := range n {
				s.do(n+1+i, history.Acquire, fmt.Sprint(i), 1)
			}
			s.do(n, history.Release, "k", 1)
		}},
	}
}

// judged judges f at size n, and returns what that cost beside the report.
func (f flood) judged(t *testing.T, n int) (r Report, took time.Duration, allocated, held uint64) {
	var s script
	f.make(&s, n)
	events := s.finish()
	var before, after, left runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	busy := cpu()
	j := New(f.h, Options{Counterfactual: true})
	j.Events(events)
	r = j.Finish(t.Context(), false)
	took = cpu() - busy
	runtime.ReadMemStats(&left)
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(j)
	if j.broken != nil || len(j.env.Crashed) > 0 {
		t.Fatalf("%s broke down: %+v %+v", f.name, j.broken, j.env.Crashed)
	}
	runtime.KeepAlive(events)
	return r, took, left.TotalAlloc - before.TotalAlloc, after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
}

// TestFloods judges histories in which much happens at once. What is allocated
// grows no faster than they do, and what is listed is bounded.
func TestFloods(t *testing.T) {
	for _, f := range floods() {
		t.Run(strings.ReplaceAll(f.name, " ", "-"), func(t *testing.T) {
			if *soakEvents <= 200_000 {
				f.n /= 10
			}
			_, _, half, _ := f.judged(t, f.n/2)
			r, took, whole, held := f.judged(t, f.n)
			t.Logf("%d: %v of processor time, %d MB allocated, %d MB held; half as many: %d MB allocated; %s %v", f.n, took, whole>>20, held>>20, half>>20, r.Verdict, r.Totals)
			if whole > 3*half+1<<20 {
				t.Errorf("%d bytes allocated for %d, %d for half as many", whole, f.n, half)
			}
			if held > 200<<20 {
				t.Errorf("%d MB held", held>>20)
			}
			if n := len(r.Inconclusive); n > 10*ledger.MostListed {
				t.Errorf("%d pieces of missing evidence are listed", n)
			}
		})
	}
}

// TestOverflow counts the double grants of many that hold at once as a look at
// every pair does.
func TestOverflow(t *testing.T) {
	type hold struct {
		ok, end time.Duration
		owner   int
		mode    history.Mode
	}
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		eps := time.Duration(rng.IntN(3) * 20)
		readers := rng.IntN(4)
		var s script
		var holds []hold
		for i := range 400 {
			mode := history.Exclusive
			if rng.IntN(4) < readers {
				mode = history.Shared
			}
			as := func(e *history.Event) { e.Mode = mode }
			s.add(i, history.Invoke, history.Acquire, func(e *history.Event) { by(i, "k")(e); as(e) })
			s.now += time.Duration(rng.IntN(3))
			d := s.now + 1 + time.Duration(rng.IntN(1500))
			s.add(i, history.OK, history.Acquire, func(e *history.Event) { by(i, "k")(e); as(e); until(d)(e) })
			holds = append(holds, hold{s.now, d, i, mode})
			for n := rng.IntN(3); n > 0; n-- {
				h := &holds[rng.IntN(len(holds))]
				if h.end <= s.now || h.owner < 0 {
					continue
				}
				switch rng.IntN(4) {
				case 0, 1:
					s.do(h.owner, history.Extend, "k", 0, until(h.end+100))
					h.end += 100
				default:
					h.end = s.now
					s.do(h.owner, history.Release, "k", 0, func(e *history.Event) { e.Mode = h.mode })
					h.owner = -1
				}
			}
		}
		want := 0
		for b := range holds {
			for a := range b {
				if x, y := holds[a], holds[b]; (x.mode == history.Exclusive || y.mode == history.Exclusive) && min(x.end, y.end)-max(x.ok, y.ok) > eps {
					want++
				}
			}
		}
		j := New(history.Header{TTL: time.Second, Nodes: 1, Quorum: 1, Epsilon: eps}, Options{})
		j.Events(s.finish())
		j.Finish(t.Context(), false)
		if got := j.env.Violations.Total["S1"]; got != want {
			t.Errorf("seed %d, ε %d: %d double grants, want %d", seed, eps, got, want)
		}
	}
}

// TestSpans compares the index of faults with a look at each of them.
func TestSpans(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var s ledger.Spans
		var all, open []*ledger.Fault
		now := time.Duration(0)
		for range 60 {
			now += time.Duration(rng.IntN(3))
			switch {
			case len(open) > 0 && rng.IntN(2) == 0:
				i := rng.IntN(len(open))
				open[i].To = now
				s.End(open[i])
				open = append(open[:i], open[i+1:]...)
			default:
				f := &ledger.Fault{From: now, To: ledger.Never}
				all, open = append(all, f), append(open, f)
				s.Begin(f)
			}
			to := time.Duration(rng.IntN(int(now) + 1))
			from := time.Duration(rng.IntN(int(to) + 1))
			want := false
			for _, f := range all {
				want = want || f.From <= to && f.To >= from
			}
			if got := s.Touch(from, to); got != want {
				t.Fatalf("at %d, [%d, %d]: %t, want %t", now, from, to, got, want)
			}
		}
	}
}
