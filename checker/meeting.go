package checker

import (
	"container/heap"
	"slices"
	"time"
)

// A meeting is a grant, and those that were live when it was answered. It is
// judged once it is past the clock uncertainty: by then it is known which of
// the holds went on.
type meeting struct {
	of        *grant
	others    []*grant
	from      time.Duration
	joined    int    // members of the key's crowd, when it met any
	own       *grant // its own holder's among those
	stretched *pair  // what an extension made; there are no others then
	order     int    // among those of one instant
}

// meetings is a heap, the earliest first.
type meetings []*meeting

func (m meetings) Len() int { return len(m) }
func (m meetings) Less(a, b int) bool {
	return m[a].from < m[b].from || m[a].from == m[b].from && m[a].order < m[b].order
}
func (m meetings) Swap(a, b int) { m[a], m[b] = m[b], m[a] }
func (m *meetings) Push(x any)   { *m = append(*m, x.(*meeting)) }
func (m *meetings) Pop() any {
	last := len(*m) - 1
	x := (*m)[last]
	(*m)[last] = nil
	*m = (*m)[:last]
	return x
}

// pend leaves a meeting to be judged once it is past the clock uncertainty.
func (d *doubleGrants) pend(m *meeting) {
	d.j.tie(tiePair, m.of)
	for _, x := range m.others {
		d.j.tie(tiePair, x)
	}
	if p := m.stretched; p != nil {
		d.j.tie(tiePair, p.a)
		if d.waiting == nil {
			d.waiting = make(map[[2]*grant]bool)
		}
		d.waiting[[2]*grant{p.a, p.b}] = true
	}
	d.order++
	m.order = d.order
	heap.Push(&d.pending, m)
	d.j.due = min(d.j.due, m.from+d.j.h.Epsilon)
}

// waits says whether the pair of x and g is yet to be judged.
func (d *doubleGrants) waits(x, g *grant) bool {
	among := func(of, other *grant) bool {
		if of.trouble == nil || of.trouble.met == nil {
			return false
		}
		m := of.trouble.met
		return other.member != 0 && int(other.member) <= m.joined || slices.Contains(m.others, other)
	}
	return among(x, g) || among(g, x) || d.waiting[[2]*grant{x, g}] || d.waiting[[2]*grant{g, x}]
}

// judge judges every pair of a meeting.
func (d *doubleGrants) judge(m *meeting) {
	if p := m.stretched; p != nil {
		delete(d.waiting, [2]*grant{p.a, p.b})
		d.judgePair(*p)
		return
	}
	if t := m.of.trouble; t != nil && t.met == m {
		t.met = nil
	}
	for _, x := range m.others {
		d.judgePair(pair{a: x, b: m.of, from: m.from})
	}
	if m.joined > 0 {
		d.crowded(m)
	}
}

// crowded counts the members of the crowd whose holds went on beside m's. They
// are listed as long as there is place.
func (d *doubleGrants) crowded(m *meeting) {
	g, c, t := m.of, m.of.holder.key.crowd, m.from+d.j.h.Epsilon
	c.awaiting--
	if d.j.clock.several() {
		d.unclear += c.between(d.j, m, t)
	}
	c.pass(d.j, t)
	if len(c.members) < m.joined || g.end() <= m.from { // all of them are over
		return
	}
	n := c.rivals(m.joined, g.mode)
	if m.own != nil && m.own.end() > t {
		n--
	}
	if d.brief || !d.j.test.overlaps(g.end()-m.from, d.j.h.Epsilon) {
		n = 0
	}
	for _, x := range c.members[:m.joined] {
		if n == 0 || d.j.violations.total["S1"] >= d.j.o.Limit {
			break
		}
		if x != nil && conflicts(x, g) && x.end() > t {
			d.judgePair(pair{a: x, b: g, from: m.from})
			n--
		}
	}
	d.j.more("S1", n)
}
