package checker

import (
	"slices"
	"strings"
	"time"

	"locktorture/workload/history"
)

// A faultKind is what faults of some names can do to a lease.
type faultKind int

const (
	nodeState faultKind = iota // make a node forget it, or run its time out early: what can cause an early takeover (S10)
	clocks                     // move a node's time, or its leases'
	stopped                    // keep a client from being told anything

	kinds // one more than there are
)

// faultMarks are what the names of faults of each kind contain.
var faultMarks = [kinds][]string{
	nodeState: {
		"clock", "kill", "restart", "flush", "evict", "failover", "promote", "expire", "swapdb", "rename",
		"amnesia", "empty", "delete", "ttl", "power", "crash-node", "wipe", "forget", "demote",
	},
	clocks:  {"clock", "ttl", "expire"},
	stopped: {"pause-client", "stop-client", "starve", "crash-client"},
}

func (f *fault) is(kind faultKind) bool {
	return slices.ContainsFunc(faultMarks[kind], func(mark string) bool { return strings.Contains(f.name, mark) })
}

// spans answers whether any of many faults touches an interval. Faults come in
// the order of their beginning, and end in the order of their end.
type spans struct {
	open []*fault // and some that have ended since
	over []*fault // ended; none that another one, which ended later, began before
}

func (s *spans) begin(f *fault) { s.open = append(s.open, f) }

func (s *spans) end(f *fault) {
	for len(s.over) > 0 && s.over[len(s.over)-1].from >= f.from {
		s.over = s.over[:len(s.over)-1]
	}
	s.over = append(s.over, f)
}

// touch says whether one was in force at any time in [from, to].
func (s *spans) touch(from, to time.Duration) bool {
	for len(s.open) > 0 && s.open[0].to != never {
		s.open = s.open[1:]
	}
	if len(s.open) > 0 && s.open[0].from <= to {
		return true
	}
	i, _ := slices.BinarySearchFunc(s.over, from, func(f *fault, t time.Duration) int { return int(min(max(f.to-t, -1), 1)) })
	return i < len(s.over) && s.over[i].from <= to
}

// A faultPool is a set of faults, of which the one that an event speaks of is
// found without looking at the others.
type faultPool struct {
	byIndex  map[int]*fault
	byTarget map[string][]*fault // by name and target, in order of the pool; some have left it
	byName   map[string][]*fault
}

// add adds f, which the event at idx brought here.
func (p *faultPool) add(f *fault, idx int) {
	if p.byIndex == nil {
		p.byIndex, p.byTarget, p.byName = make(map[int]*fault), make(map[string][]*fault), make(map[string][]*fault)
	}
	f.pool, f.since = p, idx
	p.byIndex[idx] = f
	target := f.name + "\x00" + f.target.String()
	p.byTarget[target] = append(p.byTarget[target], f)
	p.byName[f.name] = append(p.byName[f.name], f)
}

// take takes the fault that e speaks of out of the pool: the one of the
// invocation that e names, else the earliest of that name and target, else the
// earliest of that name.
func (p *faultPool) take(e *history.Event) *fault {
	f := p.byIndex[e.Of]
	if f == nil || !e.HasAll(history.HasOf) || f.name != e.Fault {
		f = p.first(p.byTarget, e.Fault+"\x00"+e.Target.String())
	}
	if f == nil {
		f = p.first(p.byName, e.Fault)
	}
	if f != nil {
		delete(p.byIndex, f.since)
		f.pool = nil
	}
	return f
}

func (p *faultPool) first(queues map[string][]*fault, name string) *fault {
	q := queues[name]
	for len(q) > 0 && q[0].pool != p {
		q = q[1:]
	}
	if len(q) == 0 {
		delete(queues, name)
		return nil
	}
	queues[name] = q
	return q[0]
}
