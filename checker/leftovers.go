package checker

import (
	"fmt"
	"slices"
	"time"

	"locktorture/workload/history"
)

// leftovers decides L8: a node keeps no key that bears a lease longer than
// somebody may own it, nor one that would never go away. It sees the lease
// keys alone: what else a lock stores, its adapter does not declare.
type leftovers struct {
	j     *Judge
	awake bool // something was found that a lease may explain
}

func (*leftovers) ids() []string { return []string{"L8"} }
func (*leftovers) wants() []what { return []what{witnessed} }
func (*leftovers) finish()       {}

// A leftover was reported. One that was to stay for too long, a lease that is told
// of late may turn out to explain.
type leftover struct {
	t, left   time.Duration // when it was seen, and how long it was to stay
	host      host
	open      bool // an acquire or an extension was under way
	unknown   bool // one of unknown outcome had been
	explained bool
}

const withoutExpiry = -1

func (l *leftovers) see(f *fact) {
	if f.what != witnessed {
		l.explain(f)
		return
	}
	e := f.e
	if e.Op != history.Key || isSample(e) || e.Kind != history.OK || !e.HasAll(history.HasPTTL) || e.PTTL < withoutExpiry {
		return
	}
	left := timeLeft(e)
	switch k := l.j.key(e.Key); {
	case e.PTTL == withoutExpiry:
		l.found(k, e, new(leftover), "without an expiry: if its owner dies, it stays for ever")
	case l.j.test.overstays(left, l.j.h.TTL) && later(e.Time, left) <= later(l.j.h.Epsilon, k.served):
		// a lease that was promised for longer than the header says
	case l.j.test.overstays(left, l.j.h.TTL):
		l.found(k, e, l.overstay(k, e), fmt.Sprintf("with %s to live, more than the TTL of %s that was asked for", span(left), span(l.j.h.TTL)))
	case l.ownerless(k, e.Time):
		l.found(k, e, new(leftover), fmt.Sprintf("although no acquire or extension of it was answered since %s, more than a TTL before: somebody keeps it alive, or set it late", at(k.touched)))
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
	if k.lasts() > t || later(k.served, l.j.h.Drift+l.j.h.Epsilon) >= t {
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

// overstay is a leftover that was to stay for longer than the header's TTL.
func (l *leftovers) overstay(k *key, e *history.Event) *leftover {
	if !l.awake {
		l.awake = true
		l.j.wake(l, granted, reentered, extended)
	}
	return &leftover{
		t: e.Time, left: timeLeft(e), host: l.j.host(e),
		open: k.leases.head != nil || k.extending(), unknown: k.ghost.holder != nil || k.unsure > 0,
	}
}

// explain looks again at those, when a lease is told of that was asked for before: it
// may have been promised for longer than the header says.
func (l *leftovers) explain(f *fact) {
	o := f.op
	length := later(l.j.h.Epsilon, l.j.length(o))
	for _, v := range f.key.nodes {
		for _, x := range v.leftovers {
			asked := o.inv <= later(x.t, l.j.clock.apart(o.host, x.host))
			x.explained = x.explained || x.left > 0 && asked && x.left <= length && later(x.t, x.left) <= later(o.ok, length)
		}
	}
}

// refuted says whether x is explained, or may be the lease of somebody who was never
// answered, as long as others were promised theirs.
func (l *leftovers) refuted(x *leftover) bool {
	return x.explained || x.unknown && x.left <= l.j.longest
}

// found reports a key once for every node, and more often while it may yet be explained.
func (l *leftovers) found(k *key, e *history.Event, x *leftover, what string) {
	v := k.node(e.Node)
	if slices.ContainsFunc(v.leftovers, func(x *leftover) bool { return !x.explained && !x.open }) || len(v.leftovers) > l.j.o.Limit {
		return
	}
	v.leftovers = append(v.leftovers, x)
	text := fmt.Sprintf("At %s node %s stored the lease key of %s, owner %q, %s.",
		at(e.Time), e.Node, k.name, e.Holder, what)
	h := &hit{
		id: "L8", key: k, witness: []int{e.Index}, blame: blameLibrary, from: k.touched, to: e.Time, text: func() string { return text },
		refuted: func() bool { return l.refuted(x) },
	}
	if l.j.nemesis.marks[clocks].touch(0, e.Time) && e.PTTL != withoutExpiry {
		l.j.suspect(h) // a node's clock may have jumped
		return
	}
	l.j.violate(h)
}
