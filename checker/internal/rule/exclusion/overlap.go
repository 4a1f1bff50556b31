package exclusion

import (
	"container/heap"
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
)

// A check is a grant, and those that were live when it was answered. It is
// judged once it is past the clock uncertainty: by then it is known which of
// the holds went on.
type check struct {
	of        *ledger.Grant
	others    []*ledger.Grant
	from      time.Duration
	joined    int           // members of the key's overflow, when it met any
	own       *ledger.Grant // its own holder's among those
	stretched *pair         // what an extension made; there are no others then
	order     int           // among those of one instant
}

// checks is a heap, the earliest first.
type checks []*check

func (m checks) Len() int { return len(m) }
func (m checks) Less(a, b int) bool {
	return m[a].from < m[b].from || m[a].from == m[b].from && m[a].order < m[b].order
}
func (m checks) Swap(a, b int) { m[a], m[b] = m[b], m[a] }
func (m *checks) Push(x any)   { *m = append(*m, x.(*check)) }
func (m *checks) Pop() any {
	last := len(*m) - 1
	x := (*m)[last]
	(*m)[last] = nil
	*m = (*m)[:last]
	return x
}

// pend leaves a check to be judged once it is past the clock uncertainty.
func (d *DoubleGrants) pend(m *check) {
	m.of.Pin()
	for _, x := range m.others {
		x.Pin()
	}
	if p := m.stretched; p != nil {
		p.a.Pin()
		if d.waiting == nil {
			d.waiting = make(map[[2]*ledger.Grant]bool)
		}
		d.waiting[[2]*ledger.Grant{p.a, p.b}] = true
	}
	d.order++
	m.order = d.order
	heap.Push(&d.pending, m)
	d.Due = min(d.Due, m.from+d.Header.Epsilon)
}

// waits says whether the pair of x and g is yet to be judged.
func (d *DoubleGrants) waits(x, g *ledger.Grant) bool {
	among := func(of, other *ledger.Grant) bool {
		m := d.unjudged[of]
		if m == nil {
			return false
		}
		return other.Place != 0 && int(other.Place) <= m.joined || slices.Contains(m.others, other)
	}
	return among(x, g) || among(g, x) || d.waiting[[2]*ledger.Grant{x, g}] || d.waiting[[2]*ledger.Grant{g, x}]
}

// judge judges every pair of a check.
func (d *DoubleGrants) judge(m *check) {
	if p := m.stretched; p != nil {
		delete(d.waiting, [2]*ledger.Grant{p.a, p.b})
		d.judgePair(*p)
		return
	}
	if d.unjudged[m.of] == m {
		delete(d.unjudged, m.of)
	}
	for _, x := range m.others {
		d.judgePair(pair{a: x, b: m.of, from: m.from})
	}
	if m.joined > 0 {
		d.overflowed(m)
	}
}

// overflowed counts the members of the overflow whose holds overlap m's, and lists as many as
// there is room for.
func (d *DoubleGrants) overflowed(m *check) {
	g, c, t := m.of, m.of.Holder.Key.Overflow, m.from+d.Header.Epsilon
	c.Awaiting--
	d.unclear += c.Between(d.Ledger, m.of, m.joined, m.from)
	c.Expire(t)
	if len(c.Members) < m.joined || g.End() <= m.from { // all of them are over
		return
	}
	n := c.Excluding(m.joined, g.Mode)
	if m.own != nil && m.own.End() > t {
		n--
	}
	if d.brief || g.End()-m.from <= d.Header.Epsilon {
		n = 0
	}
	for _, x := range c.Members[:m.joined] {
		if n == 0 || !d.Room("S1") {
			break
		}
		if x != nil && ledger.Conflicts(x, g) && x.End() > t {
			d.judgePair(pair{a: x, b: g, from: m.from})
			n--
		}
	}
	d.More("S1", n)
}
