package faults

import (
	"slices"
	"sync"
	"sync/atomic"

	"locktorture/faults/internal/phrase"
	"locktorture/faults/link"
)

// A run is what the steps of one schedule share: names bound to victims, which clients and
// nodes are claimed, and which links are cut.
type run struct {
	mu    sync.Mutex
	bound map[string][]string      // name → clients or nodes
	news  map[string]chan struct{} // name → closed once it is bound
	taken map[string]bool          // clients and nodes that a fault has down or frozen
	cuts  map[LinkID]int           // cuts in force
	count int                      // numbers given out

	// stored is set once a node was seen to store a key of Target.LeaseKeys.
	stored atomic.Bool

	// before is what had passed on the links when the schedule began: the
	// harness's own, such as a canary's.
	before map[LinkID]link.Traffic
}

// A LinkID names the link from a client to a node.
type LinkID struct{ Client, Node string }

// A bind is a name for a victim, bound once its fault is in force.
type bind struct {
	name    string
	victims []string
}

func newRun(t *Target) *run {
	r := &run{
		bound: map[string][]string{},
		news:  map[string]chan struct{}{},
		taken: map[string]bool{},
		cuts:  map[LinkID]int{},

		before: map[LinkID]link.Traffic{},
	}
	r.begin(t)
	return r
}

// begin notes what has passed on t's links so far.
func (r *run) begin(t *Target) {
	if t.Link == nil {
		return
	}
	for _, c := range phrase.Names(t.Clients) {
		for _, n := range append(phrase.Names(t.Testbed.Nodes()), StoreNode) {
			if l := t.Link(c, n); l != nil {
				r.before[LinkID{c, n}] = l.Traffic()
			}
		}
	}
}

func (r *run) bind(binds []bind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range binds {
		first := r.bound[b.name] == nil
		r.bound[b.name] = b.victims
		if news := r.announce(b.name); first {
			close(news)
		}
	}
}

// victims returns those bound to name.
func (r *run) victims(name string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bound[name]
}

// whenBound returns a channel that is closed once name is bound.
func (r *run) whenBound(name string) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.announce(name)
}

func (r *run) announce(name string) chan struct{} {
	if r.news[name] == nil {
		r.news[name] = make(chan struct{})
	}
	return r.news[name]
}

// claim reserves a client or a node for a fault. It returns false when another fault has it.
func (r *run) claim(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken[name] {
		return false
	}
	r.taken[name] = true
	return true
}

func (r *run) leave(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.taken, name)
}

func (r *run) isTaken(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken[name]
}

// cut notes that a link is cut, by delta +1, or no longer, by −1.
func (r *run) cut(id LinkID, delta int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cuts[id] += delta
}

// reserve marks links as cut, unless every one of them is already.
func (r *run) reserve(ids []LinkID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.ContainsFunc(ids, func(x LinkID) bool { return r.cuts[x] == 0 }) {
		return false
	}
	for _, x := range ids {
		r.cuts[x]++
	}
	return true
}

func (r *run) isCut(client, node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cuts[LinkID{client, node}] > 0
}

// is reports whether a client or a node goes by name: its own, or one bound to it.
func (r *run) is(victim, name string) bool {
	return victim == name || slices.Contains(r.victims(name), victim)
}

// intact reports whether no link of the client is cut.
func (r *run) intact(client string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, cuts := range r.cuts {
		if id.Client == client && cuts > 0 {
			return false
		}
	}
	return true
}

// number returns 1, 2, …: the names of a fabric's links must not repeat.
func (r *run) number() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	return r.count
}
