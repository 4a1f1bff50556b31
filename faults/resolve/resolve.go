// Package resolve says, from what links know of single commands, what became of
// operations whose clients do not know it.
package resolve

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"locktorture/faults/link"
	"locktorture/workload/history"
)

// A Resolver ties the receipts of links to the operations of unknown outcome
// that they speak of. It sees the history as a sink and the clients' commands
// through taps; what is between a client's invocation and its next one, on its
// own links, belongs to that invocation.
//
// It says that an acquire or extension did not happen when so many nodes had
// requests of it, none of which was or will be forwarded, that the others are
// no quorum; and that a release did not when a quorum of nodes was spared it.
// It says that an operation happened when enough nodes have answered it in the
// way in which a quorum answered one that its client was told yes of: the same
// commands in the same order, and a reply of a shape that never went with a
// no. Whatever is left stays unknown.
type Resolver struct {
	nodes    []string
	quorum   int
	ttl      time.Duration
	validity time.Duration
	clients  map[string]*contender

	mu      sync.Mutex
	lessons lessons
	unknown []*operation
}

// New returns a Resolver for a run on the given nodes.
func New(nodes []string, h history.Header) *Resolver {
	return &Resolver{
		nodes: nodes, quorum: h.Quorum, ttl: h.TTL, validity: h.TTL - h.Drift,
		clients: map[string]*contender{}, lessons: newLessons(),
	}
}

// Watch taps the links of one client, by node, until stop. It is called before
// the Resolver sees its first event, and for clients whose commands pass its taps
// before an unknown outcome of theirs is recorded. A client all of whose links cannot tell what became of
// a command is left out.
func (r *Resolver) Watch(client string, links map[string]link.Link) (stop func()) {
	c := &contender{ttl: r.ttl, open: map[int]*operation{}}
	var stops []func()
	for i, node := range r.nodes {
		tapper, taps := links[node].(link.Tapper)
		receipter, tells := links[node].(link.Receipter)
		if !taps || !tells {
			continue
		}
		stops = append(stops, tapper.Tap(func(e link.TapEvent) { c.passed(i, &e) }))
		c.receipters = append(c.receipters, teller{i, receipter})
	}
	if len(stops) > 0 {
		r.clients[client] = c
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// Event implements history.Sink.
func (r *Resolver) Event(e *history.Event) {
	name, _, _ := strings.Cut(e.Owner, ".")
	c := r.clients[name]
	if c == nil || e.Process < 0 {
		return
	}
	if e.Kind == history.Invoke {
		c.begin(e, len(r.nodes))
		if c.begun++; c.begun%pruneEvery == 0 {
			r.prune(c, e.Time)
		}
		return
	}
	o := c.complete(e)
	if o == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Kind == history.Info {
		r.unknown = append(r.unknown, o)
		return
	}
	r.lessons.learn(o, e, r)
}

// Resolve returns a link's receipt for every operation of unknown outcome of
// which it is certain what became of it, and forgets the others. It is called
// once the clients have closed their connections: until then much is open.
func (r *Resolver) Resolve() []history.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	outcomes := map[*contender]outcomes{}
	for _, c := range r.clients {
		outcomes[c] = c.outcomes()
	}
	var events []history.Event
	for _, o := range r.unknown {
		if value, why := (&verdict{resolver: r, operation: o, outcomes: outcomes[o.contender]}).reach(); value != "" {
			events = append(events, history.Event{
				Process: history.Link, Kind: history.OK, Op: history.Receipt,
				Of: o.index, Has: history.HasOf, Value: value, Note: why,
			})
		}
	}
	r.unknown = nil
	return events
}

const (
	pruneEvery = 64          // operations of one client
	hopeless   = time.Minute // after which a link has told what it can tell
)

// prune forgets what a client can do without: operations of which nothing was
// certain after a long time, and the receipts of all commands but those of
// operations whose outcome is, or may become, unknown.
func (r *Resolver) prune(c *contender, now time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := c.outcomes()
	var left []*operation
	r.unknown = slices.DeleteFunc(r.unknown, func(o *operation) bool {
		if o.contender != c {
			return false
		}
		if now-o.began > hopeless {
			if value, _ := (&verdict{resolver: r, operation: o, outcomes: all}).reach(); value == "" {
				c.disown(o)
				return true
			}
		}
		left = append(left, o)
		return false
	})
	c.forgetAllBut(left)
}

// A verdict weighs what the links know of one operation.
type verdict struct {
	*operation
	resolver *Resolver
	outcomes outcomes
}

// reach returns the value of the receipt, and why; empty when nothing is
// certain.
func (v *verdict) reach() (value, why string) {
	v.contender.mu.Lock()
	defer v.contender.mu.Unlock()
	if v.mixed {
		return "", ""
	}
	n, quorum := len(v.resolver.nodes), v.resolver.quorum
	spare, enough := n-quorum+1, quorum // nodes without which there is no quorum, and those that make one
	if v.op == history.Release {
		// A lease may stand on a bare quorum: a release that reached any one node may have ended it.
		spare, enough = n, n-quorum+1
	}
	if spared := v.count(v.spared); len(spared) >= spare {
		return history.NeverForwarded, fmt.Sprintf("no request reached %s", strings.Join(spared, ", "))
	}
	if done := v.count(v.done); len(done) >= enough {
		return history.Executed, fmt.Sprintf("answered by %s", strings.Join(done, ", "))
	}
	return "", ""
}

// count names the nodes of which is is true.
func (v *verdict) count(is func(node int) bool) (names []string) {
	for i, name := range v.resolver.nodes {
		if is(i) {
			names = append(names, name)
		}
	}
	return names
}

// spared reports that nothing which could bring the operation about has
// reached the node, or ever will: what was sent there was not forwarded. That
// nothing was sent at all says so only of a client that sends nothing more.
func (v *verdict) spared(node int) bool {
	if v.more {
		return false
	}
	sent := 0
	for _, c := range v.sent[node] {
		if v.resolver.lessons.harmless(v.op, c.name) {
			continue
		}
		if v.outcomes.of(node, c).Outcome != link.NeverForwarded {
			return false
		}
		sent++
	}
	return sent > 0 || v.gone
}

// done reports that the node has answered what a yes takes, with a yes.
func (v *verdict) done(node int) bool {
	for i, c := range v.sent[node] {
		shape := c.answer
		if c.unanswered() {
			shape = v.outcomes.of(node, c).Shape
		}
		switch {
		case shape == (link.Shape{}):
			return false
		case v.resolver.lessons.isYes(way{v.op, path(v.sent[node][:i+1]), shape}):
			return true
		}
	}
	return false
}

// outcomes holds the receipts of one client's links.
type outcomes map[passedBy]link.Receipt

// passedBy names a command by how it passed.
type passedBy struct {
	node          int
	conn, request uint64
}

func (o outcomes) of(node int, c command) link.Receipt { return o[passedBy{node, c.conn, c.request}] }

// A teller is the link to one node.
type teller struct {
	node int
	link.Receipter
}

func (c *contender) outcomes() outcomes {
	all := outcomes{}
	for _, l := range c.receipters {
		for _, r := range l.Receipts() {
			all[passedBy{l.node, r.Command.Conn, r.Command.Request}] = r
		}
	}
	return all
}
