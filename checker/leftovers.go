package checker

import (
	"fmt"
	"time"

	"locktorture/workload/history"
)

// leftovers decides L8: a node keeps no key that bears a lease longer than
// somebody may own it, nor one that would never go away. It sees the lease
// keys alone: what else a lock stores, its adapter does not declare.
type leftovers struct{ j *Judge }

func (*leftovers) ids() []string { return []string{"L8"} }
func (*leftovers) wants() []what { return []what{witnessed} }
func (*leftovers) finish()       {}

const withoutExpiry = -1

func (l *leftovers) see(f *fact) {
	e := f.e
	if e.Op != history.Key || e.Kind != history.OK || !e.HasAll(history.HasPTTL) || e.PTTL < withoutExpiry {
		return
	}
	left := timeLeft(e)
	switch k := l.j.key(e.Key); {
	case e.PTTL == withoutExpiry:
		l.found(k, e, "without an expiry: if its owner dies, it stays for ever")
	case l.j.test.overstays(left, l.j.h.TTL):
		l.found(k, e, fmt.Sprintf("with %s to live, more than the TTL of %s that was asked for", span(left), span(l.j.h.TTL)))
	case l.ownerless(k, e.Time):
		l.found(k, e, fmt.Sprintf("although no acquire or extension of it was answered since %s, more than a TTL before: somebody keeps it alive, or set it late", at(k.touched)))
	}
}

// timeLeft is how long the key of a witness's event may stay yet.
func timeLeft(e *history.Event) time.Duration {
	return time.Duration(min(e.PTTL, int64(history.MaxTime/time.Millisecond))) * time.Millisecond
}

// ownerless says whether nobody can have set or extended k's lease less than a
// TTL before t.
func (l *leftovers) ownerless(k *key, t time.Duration) bool {
	if k.leases.head != nil {
		return false
	}
	slack := later(l.j.h.Drift+l.j.h.Epsilon, l.j.h.TTL)
	last := k.touched
	if (k.ghost.holder != nil || k.unsure > 0) && l.j.nemesis.everOver {
		last = max(last, l.j.nemesis.ended) // a fault may have held it back until its heal
	}
	if k.lasts() > t {
		return false
	}
	for _, g := range k.held {
		if g.extends > 0 || g.end() > t {
			return false
		}
		last = max(last, g.start)
	}
	return l.j.nemesis.inForce == 0 && t > later(last, slack)
}

// found reports a key once for every node.
func (l *leftovers) found(k *key, e *history.Event, what string) {
	v := k.node(e.Node)
	if v.leftover {
		return
	}
	v.leftover = true
	text := fmt.Sprintf("At %s node %s stored the lease key of %s, owner %q, %s.",
		at(e.Time), e.Node, k.name, e.Holder, what)
	h := &hit{
		id: "L8", key: k, witness: []int{e.Index}, blame: blameLibrary, from: k.touched, to: e.Time, text: func() string { return text },
	}
	if l.j.nemesis.marks[clocks].touch(0, e.Time) && e.PTTL != withoutExpiry {
		l.j.suspect(h) // a node's clock may have jumped
		return
	}
	l.j.violate(h)
}
