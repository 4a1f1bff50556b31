package faults

import (
	"slices"

	"locktorture/faults/internal/phrase"
	"locktorture/faults/link"
)

// Operations tells whether a fault met any operation of a client: what it does
// while nobody looks proves nothing. The links that it hit say so: a command
// was sent, an answer came, a dial was made or refused. Where they do not see all
// of that, as an ingress of clients in other processes that leaves dials unanswered, and for
// faults that hit clients as a whole, the history does.
//
// A command that was on its way over one of those links when the fault began is an
// operation under it: a fault that waits for a command is in force just after the
// command was sent, and need not see another byte before it has dropped the reply.
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

// Blind reports whether the links have seen nothing of what the clients do since
// the schedule began.
func (o *Operations) Blind() bool {
	before := o.s.run.before
	return !slices.ContainsFunc(o.links, func(l link.Link) bool { return l.Traffic() != before[LinkID{l.Client(), l.Node()}] })
}

// shortSighted reports whether dials may be left unanswered on one of the links
// without a trace: clients in other processes dial its ingress.
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
