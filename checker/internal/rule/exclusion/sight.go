package exclusion

import (
	"slices"
	"strings"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
)

// A nodeView is what one node stored under one key, as far as it was recorded.
type nodeView struct {
	name string
	seen []sight // the latest, in order
}

// A sight is one record of what a node stored. It holds until the next one where the record is
// unbroken.
type sight struct {
	t      time.Duration
	idx    int
	holder string // "" when the key is not there
	left   time.Duration
	watch  bool
	token  bool // holder is no owner of this history: an attempt's own, random name
}

// recentSights is how many changes of a key at a node are remembered.
const recentSights = 16

func (k *watchedKey) node(name string) *nodeView {
	if k.nodes == nil {
		k.nodes = make(map[string]*nodeView)
	}
	v := k.nodes[name]
	if v == nil {
		v = &nodeView{name: strings.Clone(name)}
		k.nodes[v.name] = v
	}
	return v
}

// A presence is what is known about an owner's value at a node while the owner was acquiring.
type presence uint8

const (
	unseen  presence = iota // nothing
	present                 // it was stored there
	absent                  // an unbroken record does not show it
	unfound                 // it was looked for while it held, and not found
)

func (v *nodeView) stored(g *ledger.Grant) presence {
	found := unseen
	for i, s := range v.seen {
		next := ledger.Never
		if i+1 < len(v.seen) {
			next = v.seen[i+1].t
		}
		switch {
		case s.token:
			return unseen // nobody can tell whose it is
		case rule.StoredFor(s.holder, g.Owner()) && s.t < g.End() && next >= g.Inv:
			return present
		case s.watch && s.t <= g.Inv:
			found = absent
		case s.watch || found == absent && s.t > g.OK:
		case s.t > g.Inv && s.t <= g.OK:
			found = unseen // the record broke off
		case s.t > g.OK && s.t < g.End():
			found = unfound
		}
	}
	return found
}

// sortedNodes lists the nodes by name.
func (k *watchedKey) sortedNodes() []*nodeView {
	out := make([]*nodeView, 0, len(k.nodes))
	for _, v := range k.nodes {
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b *nodeView) int { return strings.Compare(a.name, b.name) })
	return out
}
