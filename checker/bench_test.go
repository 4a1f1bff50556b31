package checker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/opinion"
	"locktorture/checker/internal/rule/exclusion"
	"locktorture/workload/history"
)

// A generator makes the events of a run with a correct lock, in time order,
// one by one: clients draw a key, wait their turn, write, and release.
type generator struct {
	rng     *rand.Rand
	unknown float64 // share of operations of unknown outcome
	wait    bool    // acquires wait for their turn, and none is refused
	bare    bool    // nothing is written
	plant   int     // the cycle in which a second owner is granted the key as well; 0 is never
	keys    []genKey
	clients []genClient
	owners  []string
	values  []string
	seq     uint64
	next    int // process numbers
	cycles  int
	written int
	e       history.Event
	index   int
	now     time.Duration
	emit    func(*history.Event)
}

type genKey struct {
	name  string
	fence uint64
	held  int // client, -1 nobody
}

type genClient struct {
	process, step int
	key           int
	open          bool
	start         time.Duration
	value         string
}

const genTTL = time.Second

func newGenerator(keys, clients int, seed uint64, emit func(*history.Event)) *generator {
	g := &generator{rng: rand.New(rand.NewPCG(seed, 1)), emit: emit, next: clients}
	for i := range keys {
		g.keys = append(g.keys, genKey{name: "k" + strconv.Itoa(i), held: -1})
	}
	for i := range clients {
		g.owners = append(g.owners, fmt.Sprintf("c%02d", i))
		g.clients = append(g.clients, genClient{process: i})
	}
	for i := range 4096 {
		g.values = append(g.values, "v"+strconv.Itoa(i))
	}
	return g
}

func (g *generator) header() history.Header {
	return history.Header{Type: "history", Version: 1, Nodes: 1, Quorum: 1, TTL: genTTL, Fenced: true}
}

// operations emits n operations, two events each. Those of different clients
// overlap.
func (g *generator) operations(n int) {
	for range 2 * n {
		i := g.rng.IntN(len(g.clients))
		if c := &g.clients[i]; c.open {
			g.complete(c, i)
		} else {
			g.invoke(c, i)
		}
	}
}

func (g *generator) event(c *genClient, owner int, kind history.Kind, op history.Op) *history.Event {
	g.now += time.Duration(g.rng.IntN(200))
	g.e = history.Event{Index: g.index, Time: g.now, Process: c.process, Kind: kind, Op: op, Key: g.keys[c.key].name, Owner: g.owners[owner]}
	g.index++
	return &g.e
}

var genSteps = [...]history.Op{history.Acquire, history.Write, history.Release}

func (g *generator) invoke(c *genClient, i int) {
	op := genSteps[c.step]
	if op == history.Acquire {
		c.key = g.rng.IntN(len(g.keys))
	}
	e := g.event(c, i, history.Invoke, op)
	if op == history.Write {
		g.written++
		c.value = g.values[g.written%len(g.values)]
		if g.unknown > 0 {
			c.value = "v" + strconv.Itoa(g.written)
		}
		e.Value, e.Fence = c.value, g.keys[c.key].fence
	}
	c.open, c.start = true, e.Time
	g.emit(e)
}

// complete ends an operation; what it does, it does then.
func (g *generator) complete(c *genClient, i int) {
	k, op, kind := &g.keys[c.key], genSteps[c.step], history.OK
	if g.wait && op == history.Acquire && k.held >= 0 {
		return
	}
	if op == history.Acquire && k.held >= 0 {
		kind = history.Fail
		if g.plant > 0 && g.cycles >= g.plant {
			kind, g.plant = history.OK, 0
		}
	}
	if g.unknown > 0 && g.rng.Float64() < g.unknown {
		kind = history.Info
	}
	e := g.event(c, i, kind, op)
	switch {
	case op == history.Acquire && kind == history.OK:
		k.fence++
		k.held = i
		e.Fence, e.Has, e.ValidUntil = k.fence, history.HasValidUntil, c.start+genTTL
		c.step = 1
		if g.bare {
			c.step = 2
		}
		g.cycles++
	case op == history.Write:
		g.seq++
		e.Fence, e.Value = k.fence, c.value
		if kind == history.OK {
			e.Has, e.Seq = history.HasSeq, g.seq
		}
		c.step = 2
	case op == history.Release:
		k.held = -1
		c.step = 0
	}
	c.open = false
	if kind == history.Info {
		c.process = g.next
		g.next++
	}
	g.emit(e)
}

func (g *generator) finish() {
	g.emit(&history.Event{Index: g.index, Time: g.now, Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: history.PhaseEnd})
}

// recorded generates a history of n operations in memory.
func recorded(n int, unknown float64, plant int) history.History {
	var buf history.Buffer
	g := newGenerator(100, 64, 7, buf.Event)
	g.unknown, g.plant = unknown, plant
	g.operations(n)
	g.finish()
	return history.History{Header: g.header(), Events: buf.Events}
}

// cpu is the processor time that this process has used: what a busy machine
// does not change much.
func cpu() time.Duration { return usage(syscall.RUSAGE_SELF) }

// usage is the processor time of who: this process, or this thread.
func usage(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// thisThread is RUSAGE_THREAD of getrusage(2).
const thisThread = 1

// A load is what a benchmark judges, and by which rules: all of them, or that
// of mutual exclusion alone, as a general checker does. It has 100 keys.
type load struct {
	ops, clients int
	mutex        bool // with acquires and releases alone
}

func (l load) String() string {
	rules := "all"
	if l.mutex {
		rules = "mutex"
	}
	return fmt.Sprintf("%s/clients=%d/%d", rules, l.clients, l.ops)
}

func (l load) generator(emit func(*history.Event)) *generator {
	g := newGenerator(100, l.clients, 7, emit)
	g.bare = l.mutex
	return g
}

func (l load) judge(h history.Header) *Judge {
	if !l.mutex {
		return New(h, Options{})
	}
	j := blank(h, Options{})
	j.env.Enlist(&exclusion.DoubleGrants{Env: j.env})
	return j
}

// BenchmarkJudge judges histories held in memory: operations a second, and
// that the cost of one does not grow with the length.
func BenchmarkJudge(b *testing.B) {
	for _, l := range []load{{1e4, 64, false}, {1e5, 64, false}, {1e6, 64, false}, {1e6, 10, false}, {1e6, 64, true}, {1e6, 10, true}} {
		b.Run(l.String(), func(b *testing.B) {
			var h history.Buffer
			g := l.generator(h.Event)
			g.operations(l.ops)
			runtime.GC() // what making it left is not the judge's
			b.ReportAllocs()
			busy := cpu()
			for b.Loop() {
				j := l.judge(g.header())
				j.Events(h.Events)
				if r := j.Finish(b.Context(), false); len(r.Violations) > 0 {
					b.Fatal(short(r.Violations))
				}
			}
			b.ReportMetric(float64(l.ops)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mops/s")
			b.ReportMetric(float64(l.ops)*float64(b.N)/(cpu()-busy).Seconds()/1e6, "Mops/cpu-s")
		})
	}
}

// BenchmarkBroken judges a million operations, one in twenty of unknown
// outcome, with one double grant.
func BenchmarkBroken(b *testing.B) {
	h := recorded(1e6, 0.05, 1e5)
	for b.Loop() {
		if r := Check(context.Background(), h, Options{}); r.Verdict != Fail {
			b.Fatal(r.Verdict, short(r.Violations))
		}
	}
}

// BenchmarkStream judges operations as they come, and reports what that costs
// without the making of them, and what the judge holds in memory at the end.
func BenchmarkStream(b *testing.B) {
	for _, l := range []load{
		{1e4, 64, false}, {1e5, 64, false}, {1e6, 64, false}, {1e7, 64, false}, {1e7, 10, false}, {1e7, 64, true}, {1e7, 10, true},
	} {
		b.Run(l.String(), func(b *testing.B) {
			var judging time.Duration
			for b.Loop() {
				held, took := stream(l)
				judging += took
				b.ReportMetric(float64(held)/1024, "kB")
			}
			b.ReportMetric(float64(l.ops)*float64(b.N)/judging.Seconds()/1e6, "Mops/cpu-s")
		})
	}
}

// stream judges operations as they are made, and returns by how much the heap
// has grown then, and the processor time of all but the making.
func stream(l load) (held uint64, judging time.Duration) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var batch history.Buffer
	g := l.generator(batch.Event)
	j := l.judge(g.header())
	began, making := cpu(), time.Duration(0)
	for left := l.ops; left > 0; left -= readAhead / 2 {
		batch.Events = batch.Events[:0]
		start := usage(thisThread)
		g.operations(min(readAhead/2, left))
		making += usage(thisThread) - start
		j.Events(batch.Events)
	}
	judging = cpu() - began - making
	batch.Events = nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(j)
	return after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc), judging
}

// TestMemoryBroken shows the same of a lock that is broken all the time, and of
// processes that do one thing each.
func TestMemoryBroken(t *testing.T) {
	j := New(history.Header{TTL: 20 * time.Microsecond, Nodes: 1, Quorum: 1}, Options{SecondOpinion: true})
	n := 0
	add := func(kind history.Kind, op history.Op, owner string) {
		j.Event(&history.Event{Index: n, Time: time.Duration(n) * time.Microsecond, Process: n / 2, Kind: kind, Op: op, Key: "k", Owner: owner})
		n++
	}
	for i := range 20_000 {
		owner := string(rune('a' + i%12))
		for _, op := range []history.Op{history.Acquire, history.Extend} {
			add(history.Invoke, op, owner)
			add(history.OK, op, owner)
		}
	}
	if total := j.env.Violations.Total["S1"] + j.env.Violations.Total["S6"]; total < 50*opinion.KeptHits || len(j.second.Violations) > total/10 {
		t.Errorf("of %d violations %d are kept for the second opinion", total, len(j.second.Violations))
	}
	if pages := len(j.env.Procs.Pages); pages > ledger.ProcSweep {
		t.Errorf("%d pages of processes for %d of them", pages, n/2)
	}
}

// TestMemory shows that what the judge holds grows with the keys and owners
// and not with the length of the history.
func TestMemory(t *testing.T) {
	short, _ := stream(load{ops: 50_000, clients: 64})
	long, _ := stream(load{ops: 500_000, clients: 64})
	t.Logf("%d kB after 50,000 operations, %d kB after 500,000", short/1024, long/1024)
	if long > short+short/2 {
		t.Errorf("%d bytes after 50,000 operations, %d after 500,000", short, long)
	}
}
