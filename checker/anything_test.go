package checker

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"locktorture/workload/history"
)

// An anything makes histories that keep the format and nothing else: every
// operation may end in any way, at any time, with any token. All rules find
// something in them.
type anything struct {
	rng    *rand.Rand
	h      history.History
	now    time.Duration
	procs  []anyProc
	next   int // process
	seq    uint64
	values int
	faults []history.Event // injected, not healed
}

type anyProc struct {
	number int
	owner  string
	open   history.Event // of kind 0 when nothing is
}

// anyHistory makes a history of about n events.
func anyHistory(seed uint64, n int) history.History {
	a := &anything{rng: rand.New(rand.NewPCG(seed, 3))}
	a.h.Header = a.header()
	for i := range 2 + a.rng.IntN(5) {
		a.procs = append(a.procs, anyProc{number: i, owner: string(rune('a' + i/(1+a.rng.IntN(2))))})
	}
	a.next = len(a.procs)
	for len(a.h.Events) < n {
		a.now += time.Duration(a.rng.IntN(6))
		if len(a.h.Events) == n*3/4 {
			a.phase(history.PhaseFinal)
		}
		a.step()
	}
	a.log()
	a.phase(history.PhaseEnd)
	return a.h
}

func (a *anything) header() history.Header {
	h := history.Header{Type: "history", Version: 1, Seed: a.rng.Uint64(), TTL: time.Duration(8 + a.rng.IntN(80)), Fenced: a.rng.IntN(2) == 0}
	h.Nodes = 1 + 2*a.rng.IntN(2)
	h.Quorum, h.Epsilon, h.Drift = h.Nodes/2+1, time.Duration(a.one(0, 0, 1, 4)), time.Duration(a.one(0, 1))
	if a.rng.IntN(3) == 0 {
		unchecked := false
		h.OwnerCheckedRelease = &unchecked
	}
	if a.rng.IntN(2) == 0 {
		h.Bounds = map[string]int64{history.BoundLoss: 5, history.BoundWait: 40, history.BoundRecovery: 20, history.BoundAvailability: 50, history.BoundRounds: 3, history.BoundRetry: 2}
	}
	return h
}

func (a *anything) one(of ...int) int { return of[a.rng.IntN(len(of))] }

func (a *anything) add(e history.Event) {
	e.Index, e.Time = len(a.h.Events), a.now
	a.h.Events = append(a.h.Events, e)
}

func (a *anything) key() string  { return "k" + strconv.Itoa(a.one(0, 0, 0, 1, 2)) }
func (a *anything) node() string { return "n" + strconv.Itoa(1+a.rng.IntN(a.h.Header.Nodes)) }

func (a *anything) step() {
	switch r := a.rng.IntN(100); {
	case r < 88:
		p := &a.procs[a.rng.IntN(len(a.procs))]
		if p.open.Kind == 0 {
			a.invoke(p)
		} else {
			a.complete(p)
		}
	case r < 90:
		p := a.procs[a.rng.IntN(len(a.procs))]
		a.add(history.Event{Process: p.number, Kind: history.OK, Op: history.Lost, Key: a.key(), Owner: p.owner, Fence: a.token()})
	case r < 92:
		a.renewal(&a.procs[a.rng.IntN(len(a.procs))])
	case r < 94:
		a.add(history.Event{
			Process: history.Witness, Kind: history.OK, Op: history.Key, Key: a.key(), Node: a.node(), Has: history.HasPTTL,
			PTTL: int64(a.one(-2, -1, 0, 0, 0, 1)), Holder: []string{"", "a", "b", "c:1", "x"}[a.rng.IntN(5)], Note: []string{"", "watch"}[a.rng.IntN(2)],
		})
	case r < 96 && len(a.h.Events) > 0:
		e := history.Event{Process: history.Link, Kind: history.OK, Op: history.Receipt, Has: history.HasOf, Of: a.rng.IntN(len(a.h.Events))}
		e.Value = []string{history.NeverForwarded, history.Executed}[a.rng.IntN(2)]
		if a.rng.IntN(2) == 0 {
			e.Node = a.node()
		}
		a.add(e)
	case r < 97:
		a.phase([]string{history.PhaseMain, history.PhaseFinal}[a.rng.IntN(2)])
	default:
		a.fault()
	}
}

func (a *anything) token() uint64 {
	if a.rng.IntN(4) == 0 {
		return 0
	}
	return uint64(max(1, len(a.h.Events)/6+a.rng.IntN(8)-4))
}

var anyOps = []history.Op{
	history.Acquire, history.Acquire, history.Acquire, history.Release, history.Release, history.Extend, history.Write, history.Write, history.Write, history.Read,
}

func (a *anything) invoke(p *anyProc) {
	e := history.Event{
		Process: p.number, Kind: history.Invoke, Op: anyOps[a.rng.IntN(len(anyOps))], Key: a.key(), Owner: p.owner, Mode: history.Mode(a.one(0, 0, 0, 1)),
	}
	if last := p.open.Key; last != "" && a.rng.IntN(4) > 0 {
		e.Key = last
	}
	if e.Op == history.Write {
		a.values++
		e.Value, e.Fence = "v"+strconv.Itoa(a.values), a.token()
		if a.rng.IntN(3) == 0 {
			e.Has, e.Base = history.HasBase, a.seq-min(a.seq, uint64(a.rng.IntN(3)))
		}
	}
	p.open = e
	a.add(e)
	p.open.Index, p.open.Time = len(a.h.Events)-1, a.now
}

func (a *anything) complete(p *anyProc) {
	e := p.open
	e.Kind = history.Kind(a.one(int(history.OK), int(history.OK), int(history.OK), int(history.OK), int(history.Fail), int(history.Info)))
	e.Fence = a.token()
	inv := e.Time
	if a.rng.IntN(6) == 0 {
		e.Has |= history.HasBegan
		e.Began = inv + time.Duration(a.rng.IntN(3)-1)
	}
	if a.rng.IntN(6) == 0 {
		e.Has |= history.HasEnded
		e.Ended = a.now - time.Duration(a.rng.IntN(3))
	}
	switch {
	case e.Kind == history.OK && (e.Op == history.Acquire || e.Op == history.Extend) && a.rng.IntN(2) == 0:
		e.Has |= history.HasValidUntil
		e.ValidUntil = inv + a.h.Header.TTL + time.Duration(a.rng.IntN(5)-2)
	case e.Op == history.Write && e.Kind != history.Info && a.rng.IntN(8) > 0:
		a.seq += uint64(a.one(1, 1, 1, 2))
		e.Has |= history.HasSeq
		e.Seq = a.seq
	case e.Kind == history.Fail && e.Op == history.Acquire:
		e.Err = []string{"held", "no quorum"}[a.rng.IntN(2)]
	}
	a.add(e)
	p.open = history.Event{Key: e.Key}
	if e.Kind == history.Info {
		p.number, a.next = a.next, a.next+1
	}
}

func (a *anything) renewal(p *anyProc) {
	if p.open.Op == history.Extend && p.open.Kind != 0 {
		return
	}
	e := history.Event{
		Process: p.number, Kind: history.Kind(a.one(int(history.OK), int(history.Fail), int(history.Info))), Op: history.Extend, Key: a.key(), Owner: p.owner,
		Has: history.HasBegan, Began: a.now - time.Duration(a.rng.IntN(4)),
	}
	if e.Kind == history.OK {
		e.Has |= history.HasValidUntil
		e.ValidUntil = e.Began + a.h.Header.TTL
	}
	a.add(e)
}

func (a *anything) phase(value string) {
	a.add(history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: value})
}

func (a *anything) fault() {
	if n := len(a.faults); n > 0 && a.rng.IntN(2) == 0 {
		e := a.faults[n-1]
		a.faults = a.faults[:n-1]
		e.Op, e.Instant = history.Heal, false
		a.add(e)
		e.Kind = history.Kind(a.one(int(history.OK), int(history.OK), int(history.Info)))
		a.add(e)
		return
	}
	e := history.Event{Process: history.Nemesis, Kind: history.Invoke, Op: history.Fault, Fault: []string{"cut", "kill-empty", "pause-client"}[a.rng.IntN(3)]}
	e.Instant = e.Fault == "kill-empty"
	a.add(e)
	done := e
	done.Kind = history.Kind(a.one(int(history.OK), int(history.OK), int(history.Info)))
	a.add(done)
	if !e.Instant {
		a.faults = append(a.faults, e)
	}
}

// log is the store's own, of what was accepted and of some of what is unknown.
func (a *anything) log() {
	if a.rng.IntN(2) == 0 {
		return
	}
	var lines []history.Event
	for _, e := range a.h.Events {
		if e.Op != history.Write || e.Kind == history.Invoke {
			continue
		}
		line := history.Event{Process: history.Store, Kind: history.OK, Op: history.Audit, Key: e.Key, Owner: e.Owner, Value: e.Value, Fence: e.Fence, Has: history.HasSeq, Seq: e.Seq}
		if e.Kind == history.Info {
			line.Seq = 1 + a.rng.Uint64N(a.seq+1)
		}
		if e.Kind != history.Fail && line.Seq > 0 {
			lines = append(lines, line)
		}
	}
	slices.SortStableFunc(lines, func(x, y history.Event) int { return int(x.Seq) - int(y.Seq) })
	for _, line := range lines {
		a.add(line)
	}
}
