package faults

import (
	"slices"

	"locktorture/faults/internal/phrase"
	"locktorture/faults/link"
)

// Operations finds out whether a client had an operation under a fault: otherwise nothing
// proves that the fault took effect. It counts on the affected links: a command was sent, a
// reply came, a dial was made or refused. Where links do not see all of that, such as an
// ingress that leaves the dials of clients in other processes unanswered, and for faults that
// affect clients as a whole, it counts in the history.
//
// A command that was under way on one of those links when the fault began counts as an
// operation under it: a fault that waits for a command is in force just after the command was
// sent, and may drop the reply without another byte passing.
type Operations struct {
	s       *Scope
	clients []string // that were hit
	links   []link.Link
	before  []link.Traffic
	nodes   bool // it hit nodes: what a client does elsewhere is none of its business
	atWork  bool // one of the clients had an operation under way, or a lease, when it began
	since   int  // operations that the history had seen the end of
}

// Operations begins to look for what meets a fault that hits as hit says. A
// hit without clients is one of all of them.
func (s *Scope) Operations(hit Hit) *Operations {
	o := &Operations{s: s, clients: hit.Clients, nodes: len(hit.Nodes) > 0}
	if len(o.clients) == 0 {
		o.clients = phrase.Names(s.Clients)
	}
	nodes := hit.Nodes
	if !o.nodes {
		nodes = append(phrase.Names(s.Testbed.Nodes()), StoreNode)
	}
	o.collect(nodes)
	o.since = s.Watch.CountEnded(o.concerns)
	o.atWork = s.Watch.AtWork(o.concerns)
	return o
}

func (o *Operations) collect(nodes []string) {
	if o.s.Link == nil {
		return
	}
	for _, c := range o.clients {
		for _, n := range nodes {
			if l := o.s.Link(c, n); l != nil {
				o.links, o.before = append(o.links, l), append(o.before, l.Traffic())
			}
		}
	}
}

// concerns reports whether an owner is one of the clients that were hit: every owner is where
// no client is known.
func (o *Operations) concerns(owner string) bool {
	return len(o.clients) == 0 || slices.Contains(o.clients, o.s.ClientName(owner))
}

// Met reports whether there was any so far.
func (o *Operations) Met() bool {
	for i, l := range o.links {
		if o.before[i].Waiting > 0 || l.Traffic() != o.before[i] {
			return true
		}
	}
	if o.nodes && !o.Blind() && !o.shortSighted() {
		return false
	}
	return o.atWork || o.s.Watch.CountEnded(o.concerns) > o.since || o.s.Watch.AtWork(o.concerns)
}

// Blind reports whether the links have seen nothing of what the clients do since the schedule
// began; a command that was under way by then they had seen.
func (o *Operations) Blind() bool {
	return !slices.ContainsFunc(o.links, func(l link.Link) bool {
		before := o.s.run.before[LinkID{l.Client(), l.Node()}]
		return before.Waiting > 0 || l.Traffic() != before
	})
}

// shortSighted reports whether a dial may be left unanswered on one of the links without being
// counted: clients in other processes dial its ingress.
func (o *Operations) shortSighted() bool {
	return slices.ContainsFunc(o.links, func(l link.Link) bool {
		ingress, can := l.(link.Opener)
		return can && ingress.IngressAddr() != ""
	})
}

// Dialled counts the links on which a client dialled anew since.
func (o *Operations) Dialled() (n int) {
	for i, l := range o.links {
		if l.Traffic().Conns > o.before[i].Conns {
			n++
		}
	}
	return n
}
