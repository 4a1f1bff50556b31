package reference

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"locktorture/workload/history"
)

// A widener adds to a drawn history what a generator leaves out.
type widener struct {
	*rand.Rand
	h history.History
}

// GenerateWide draws the history of a seed as Generate does, with some of these beside
// it: a quorum, reads, phases and faults that last, receipts of single nodes and early
// ones, looks at nodes, standstills of the harness, clocks of several hosts, and an end
// that is missing.
func GenerateWide(seed uint64) history.History {
	w := &widener{rand.New(rand.NewPCG(seed, 21)), Generate(seed)}
	for _, add := range []func(){w.quorum, w.reads, w.faults, w.receipts, w.looks, w.stalls, w.hosts, w.cut} {
		if w.Float64() < .35 {
			add()
		}
	}
	return w.h
}

// GenerateLate draws the history of a seed as Generate does, in which some events are told
// late: an invocation or a reported loss says itself, by its own stamp (began), that it
// was up to 6 ms before its line, though never before its process's line before. What completions say of when they began and ended, Generate draws.
func GenerateLate(seed uint64) history.History {
	w := &widener{rand.New(rand.NewPCG(seed, 41)), Generate(seed)}
	w.late([]float64{.05, .15, .4}[w.IntN(3)])
	return w.h
}

// late makes a share of the invocations and losses say that they were earlier than their lines.
func (w *widener) late(share float64) {
	before := map[int]time.Duration{} // by process, the time of its line before
	for i := range w.h.Events {
		e := &w.h.Events[i]
		if e.Process < 0 {
			continue
		}
		told := e.Kind == history.Invoke || e.Op == history.Lost
		if began := max(before[e.Process], e.Time-time.Duration(1+w.IntN(6))*time.Millisecond); told && began < e.Time && w.Float64() < share {
			e.Began, e.Has = began, e.Has|history.HasBegan
		}
		before[e.Process] = e.Time
	}
}

// place is where an event can be put in: not within a fault's own pair of events.
func (w *widener) place(from int) int {
	for {
		at := from + w.IntN(len(w.h.Events)-from)
		if e := &w.h.Events[at]; e.Process != history.Nemesis || e.Kind == history.Invoke || e.Op == history.Phase {
			return at
		}
	}
}

// insert puts an event in, with the time of the one that it comes before.
func (w *widener) insert(at int, e history.Event) {
	e.Time = w.h.Events[at].Time
	for i := range w.h.Events {
		if x := &w.h.Events[i]; x.HasAll(history.HasOf) && x.Of >= at {
			x.Of++
		}
	}
	w.h.Events = slices.Insert(w.h.Events, at, e)
	for i := range w.h.Events {
		w.h.Events[i].Index = i
	}
}

func (w *widener) quorum() {
	w.h.Header.Nodes = 3 + 2*w.IntN(2)
	w.h.Header.Quorum = w.h.Header.Nodes/2 + 1
}

// somebody is an owner, and a key that he asked for.
func (w *widener) somebody() (owner, key string) {
	for range 100 {
		if e := &w.h.Events[w.IntN(len(w.h.Events))]; e.Owner != "" && e.Key != "" {
			return e.Owner, e.Key
		}
	}
	return "a", "k1"
}

func (w *widener) reads() {
	for i := range 1 + w.IntN(3) {
		owner, key := w.somebody()
		e := history.Event{Process: 500 + i, Kind: history.Invoke, Op: history.Read, Owner: owner, Key: key}
		first := w.place(0)
		w.insert(first, e)
		e.Kind = history.OK
		w.insert(w.place(first+1), e)
	}
}

// faults are some that last, and the phases of a run around them.
func (w *widener) faults() {
	last := 0
	for range 1 + w.IntN(2) {
		name := []string{"cut-link", "pause-client", "stall", "clock-jump"}[w.IntN(4)]
		first := w.place(last)
		w.pair(first, history.Fault, name)
		if last = first + 2; w.IntN(6) > 0 {
			last = w.place(last)
			w.pair(last, history.Heal, name)
			last += 2
		}
	}
	w.phase(w.place(last), history.PhaseFinal)
	w.phase(0, history.PhaseMain)
}

func (w *widener) pair(at int, op history.Op, name string) {
	e := history.Event{Process: history.Nemesis, Kind: history.Invoke, Op: op, Fault: name, Target: history.NamedTarget("n1")}
	w.insert(at, e)
	e.Kind, e.Receipt = history.OK, "seen"
	w.insert(at+1, e)
}

func (w *widener) phase(at int, name string) {
	w.insert(at, history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: name})
}

// receipts are some of a single node, which decide nothing where there are several, and
// some that come before their operation is given up.
func (w *widener) receipts() {
	for i := len(w.h.Events) - 2; i >= 0; i-- {
		e := w.h.Events[i]
		if e.Process < 0 || e.Kind != history.Invoke || e.Op == history.Write || e.Op == history.Read || !w.vague(i) || w.IntN(2) > 0 {
			continue
		}
		r := history.Event{Process: history.Link, Kind: history.OK, Op: history.Receipt, Of: i, Has: history.HasOf}
		r.Value = []string{history.NeverForwarded, history.Executed}[w.IntN(2)]
		if w.h.Header.Nodes > 1 && w.IntN(2) > 0 {
			r.Node = fmt.Sprintf("n%d", 1+w.IntN(w.h.Header.Nodes))
		}
		w.insert(w.place(i+1), r)
	}
}

// vague reports whether the operation invoked at i is of unknown outcome, and no receipt
// speaks of it yet.
func (w *widener) vague(i int) bool {
	if slices.ContainsFunc(w.h.Events, func(e history.Event) bool { return e.Op == history.Receipt && e.Of == i }) {
		return false
	}
	for _, e := range w.h.Events[i+1:] {
		if e.Process == w.h.Events[i].Process && e.Op == w.h.Events[i].Op && !(e.Op == history.Extend && e.HasAll(history.HasBegan)) {
			return e.Kind == history.Info
		}
	}
	return true
}

// looks are what a node was seen to store, whatever that is.
func (w *widener) looks() {
	for range 1 + w.IntN(6) {
		owner, key := w.somebody()
		e := history.Event{
			Process: history.Witness, Kind: history.OK, Op: history.Key, Key: key, Holder: owner,
			Node: fmt.Sprintf("n%d", 1+w.IntN(w.h.Header.Nodes)), PTTL: int64(w.IntN(30)), Has: history.HasPTTL, Note: "watch",
		}
		if w.IntN(3) == 0 {
			e.Holder, e.PTTL = "", -2
		}
		at := w.place(0)
		if w.IntN(2) > 0 {
			e.Value, e.Note, e.Began, e.Has = history.Sample, key, max(0, w.h.Events[at].Time-1e6), e.Has|history.HasBegan
		}
		w.insert(at, e)
	}
}

func (w *widener) stalls() {
	for range 1 + w.IntN(2) {
		at := w.place(0)
		ended := w.h.Events[at].Time
		began := ended - min(ended, w.h.Header.TTL/10*time.Duration(1+w.IntN(6)))
		w.insert(at, history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Stall, Began: began, Ended: ended, Has: history.HasBegan | history.HasEnded})
	}
}

// hosts gives processes hosts with clock bounds of their own; some events name none.
func (w *widener) hosts() {
	names := []string{"near", "close", "far"}
	w.h.Header.Hosts = map[string]history.Host{"near": {}, "close": {Epsilon: 1e6}, "far": {Epsilon: 3e6}}
	for i := range w.h.Events {
		if e := &w.h.Events[i]; e.Process >= 0 && e.Process%4 < len(names) {
			e.Host = names[e.Process%4]
		}
	}
}

// cut takes the end away.
func (w *widener) cut() {
	if n := len(w.h.Events); n > 2 {
		w.h.Events, w.h.Truncated = w.h.Events[:n/2+w.IntN(n-n/2)], true
	}
}
