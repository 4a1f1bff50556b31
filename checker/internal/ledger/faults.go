package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/workload/history"
)

// A faultKind is a kind of harm that faults can do to a lease.
type faultKind int

const (
	NodeState     faultKind = iota // make a node forget it, or run its time out early: what can cause an early takeover (S10)
	ClockFaults                    // move a node's time, or its leases'
	clientStopped                  // keep a client from being told anything
	ownClockMoved                  // move the clock that stamps what a client does
	RepliesHurt                    // lose replies, or hold them back: every request is carried out, at its time

	kinds // one more than there are
)

// faultMarks lists, for each kind, texts of which the names of its faults contain one.
var faultMarks = [kinds][]string{
	NodeState: {
		"clock", "kill", "restart", "flush", "evict", "failover", "promote", "expire", "swapdb", "rename",
		"amnesia", "empty", "delete", "ttl", "power", "crash-node", "wipe", "forget", "demote",
	},
	ClockFaults:   {"clock", "ttl", "expire"},
	clientStopped: {"pause-client", "stop-client", "starve", "crash-client"},
	ownClockMoved: {history.WorkerClock},
	RepliesHurt:   {"response-lost", "lost-reply", "slow-reply", "reply-lost"},
}

// Is says whether f can do harm of this kind. A fault of clients or workers alone makes no node
// forget a lease.
func (f *Fault) Is(kind faultKind) bool {
	if kind == NodeState && f.sparesNodes() {
		return false
	}
	return slices.ContainsFunc(faultMarks[kind], func(mark string) bool { return strings.Contains(f.name, mark) })
}

// sparesNodes says whether f was injected into clients or workers alone.
func (f *Fault) sparesNodes() bool {
	if t := f.target; t != nil && len(t.Clients)+len(t.Nodes) > 0 {
		return len(t.Nodes) == 0
	}
	return strings.Contains(f.name, "client") || strings.Contains(f.name, "worker")
}

// Spans answers whether any of many faults touches an interval. Faults come in
// the order of their beginning, and end in the order of their end.
type Spans struct {
	open []*Fault // and some that have ended since
	over []*Fault // ended; none that another one, which ended later, began before
}

func (s *Spans) Begin(f *Fault) { s.open = append(s.open, f) }

func (s *Spans) End(f *Fault) {
	for len(s.over) > 0 && s.over[len(s.over)-1].From >= f.From {
		s.over = s.over[:len(s.over)-1]
	}
	s.over = append(s.over, f)
}

// Touch says whether one was in force at any time in [from, to].
func (s *Spans) Touch(from, to time.Duration) bool {
	for len(s.open) > 0 && s.open[0].To != Never {
		s.open = s.open[1:]
	}
	if len(s.open) > 0 && s.open[0].From <= to {
		return true
	}
	i, _ := slices.BinarySearchFunc(s.over, from, func(f *Fault, t time.Duration) int { return int(min(max(f.To-t, -1), 1)) })
	return i < len(s.over) && s.over[i].From <= to
}

// A faultPool is a set of faults, indexed so that the one that an event is about is found
// without a search through all.
type faultPool struct {
	byIndex  map[int]*Fault
	byTarget map[string][]*Fault // by name and target, in order of the pool; some have left it
	byName   map[string][]*Fault
}

// add adds f; idx is the event by which f got into this pool.
func (p *faultPool) add(f *Fault, idx int) {
	if p.byIndex == nil {
		p.byIndex, p.byTarget, p.byName = make(map[int]*Fault), make(map[string][]*Fault), make(map[string][]*Fault)
	}
	f.pool, f.since = p, idx
	p.byIndex[idx] = f
	target := f.name + "\x00" + f.target.String()
	p.byTarget[target] = append(p.byTarget[target], f)
	p.byName[f.name] = append(p.byName[f.name], f)
}

// remove removes and returns the fault that e speaks of: the one of the invocation that e
// names, else the earliest of that name and target, else the earliest of that name whose
// target is unknown, or may have become another: a role that an injection turned into
// names. A heal of somebody else heals nothing.
func (p *faultPool) remove(e *history.Event) *Fault {
	f := p.byIndex[e.Of]
	if f == nil || !e.HasAll(history.HasOf) || f.name != e.Fault {
		f = p.first(p.byTarget, e.Fault+"\x00"+e.Target.String())
	}
	if f == nil && e.Target != nil {
		f = p.first(p.byTarget, e.Fault+"\x00"+(*history.Target)(nil).String())
	}
	if f == nil && (e.Target == nil || e.Op == history.Fault) {
		f = p.first(p.byName, e.Fault)
	}
	if f != nil {
		delete(p.byIndex, f.since)
		f.pool = nil
	}
	return f
}

func (p *faultPool) first(queues map[string][]*Fault, name string) *Fault {
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

// listed is how many names of a target are spelt out.
const listed = 3

// targetWords names the target of a fault: its clients, nodes and key, or what the history says
// where it names none of these.
func targetWords(t *history.Target) string {
	if name := t.Name(); t == nil || name != "" {
		return name
	}
	var words []string
	if w := spell(t.Clients, "clients"); w != "" {
		words = append(words, w)
	}
	if w := spell(t.Nodes, "nodes"); w != "" {
		words = append(words, w)
	}
	if t.Key != "" {
		words = append(words, "key "+t.Key)
	}
	if len(words) == 0 {
		return t.Plain()
	}
	return strings.Join(words, " / ")
}

// spell spells out a few names, and counts more.
func spell(all []string, what string) string {
	if len(all) > listed {
		return fmt.Sprintf("%d %s", len(all), what)
	}
	return strings.Join(all, ", ")
}

// affected are the clients and nodes that a fault affects, by name. Both empty means all.
type affected struct{ Clients, Nodes []string }

// MostFaults is how many faults a rule about samples looks through. In a history with more,
// every fault counts as affecting everybody.
const MostFaults = 4096

func (f *Fault) Crashes() bool { return strings.Contains(f.name, "crash") }

// belongs says whether owner is an incarnation of this client.
func belongs(owner, client string) bool {
	rest, ok := strings.CutPrefix(owner, client)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "#/.:-~@"))
}

// MayBeStopped says whether owner's client may have been stopped at any time in [from, to], and
// so received nothing.
func (l *Ledger) MayBeStopped(owner string, from, to time.Duration) bool {
	return l.Nemesis.Marks[clientStopped].Touch(from, to) && l.HitBy(owner, from, to, func(f *Fault) bool { return f.Is(clientStopped) })
}

// ClockMoved says whether the clock that stamps the events of owner's client may have been
// moved at any time in [from, to].
func (l *Ledger) ClockMoved(owner string, from, to time.Duration) bool {
	return l.Nemesis.Marks[ownClockMoved].Touch(from, to) && l.HitBy(owner, from, to, func(f *Fault) bool { return f.Is(ownClockMoved) })
}

// HitBy says whether a fault for which kind holds may have affected owner's client in [from,
// to].
func (l *Ledger) HitBy(owner string, from, to time.Duration, kind func(*Fault) bool) bool {
	n := &l.Nemesis
	if len(n.Faults) > MostFaults {
		return true
	}
	for f := range n.touching(from, to) {
		if kind(f) && f.Affected().Client(owner) {
			return true
		}
	}
	return false
}

// Affected are the clients and nodes that f affects.
func (f *Fault) Affected() affected {
	switch t := f.target; {
	case t == nil:
		return affected{}
	case t.Name() != "":
		return affected{Clients: []string{t.Name()}}
	default:
		return affected{t.Clients, t.Nodes}
	}
}

// Client says whether owner's client may be affected.
func (h affected) Client(owner string) bool {
	return len(h.Clients) == 0 || slices.ContainsFunc(h.Clients, func(c string) bool { return belongs(owner, c) })
}
