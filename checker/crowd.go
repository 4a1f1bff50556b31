package checker

import (
	"container/heap"
	"time"

	"locktorture/workload/history"
)

// heldMost is how many grants of one key are compared with each event. Where
// more are live at once, the oldest make a crowd, readers first.
const heldMost = 64

// A crowd is a key's live grants beyond those that are looked at one by one. A
// later grant that some of them exclude is told how many: n grants that all
// hold at once are n²/2 double grants, and counting them costs n·log n.
type crowd struct {
	members  []*grant   // in the order in which they joined
	alive    [2]fenwick // of them, those whose hold is not known to be over, by mode
	ends     []ending
	until    time.Duration // when the last one's hold is over, at the latest
	awaiting int           // double grants that are not judged yet
}

// An ending is when a member's hold seemed to end.
type ending struct {
	at     time.Duration
	member int
}

// join takes g in, and forgets those whose hold was over by now.
func (j *Judge) join(k *key, g *grant) {
	if k.crowd == nil {
		k.crowd = new(crowd)
	}
	c := k.crowd
	c.pass(j, j.now)
	if n := c.alive[0].sum(len(c.members)) + c.alive[1].sum(len(c.members)); c.awaiting == 0 && len(c.members) > 2*n+heldMost {
		c.closeRanks()
	}
	c.admit(g)
}

// closeRanks gives those that are left the first places.
func (c *crowd) closeRanks() {
	left := *c
	*c = crowd{until: left.until}
	for _, g := range left.members {
		if g != nil {
			c.admit(g)
		}
	}
}

func (c *crowd) admit(g *grant) {
	c.members = append(c.members, g)
	g.member = int32(len(c.members))
	c.alive[g.mode].grow(1)
	c.alive[1-g.mode].grow(0)
	c.stretch(g)
}

// stretch books that g, a member, may end at another time than it seemed.
func (c *crowd) stretch(g *grant) {
	c.until = max(c.until, g.end())
	heap.Push((*endings)(c), ending{g.end(), int(g.member) - 1})
}

// between counts the members that exclude m's grant and end between the narrowest and the
// widest uncertainty of two clocks after its beginning, which is t.
func (c *crowd) between(j *Judge, m *meeting, t time.Duration) int {
	c.pass(j, m.from+j.clock.narrowest)
	if len(c.members) < m.joined {
		return 0
	}
	n := 0
	for _, e := range c.ends {
		if g := c.members[e.member]; e.at <= t && e.member < m.joined && g != nil && conflicts(g, m.of) {
			n++
		}
	}
	return n
}

// pass lets those go whose hold was over by t.
func (c *crowd) pass(j *Judge, t time.Duration) {
	for len(c.ends) > 0 && c.ends[0].at <= t {
		m := heap.Pop((*endings)(c)).(ending).member
		g := c.members[m]
		switch {
		case g == nil:
		case g.end() > t:
			c.stretch(g)
		default:
			c.alive[g.mode].add(m, -1)
			c.members[m], g.member = nil, 0
			j.untie(tieHeld, g)
		}
	}
	if len(c.ends) == 0 && c.awaiting == 0 {
		*c = crowd{until: c.until}
	}
}

// rivals is how many of the first joined members that are left exclude a grant
// of mode m.
func (c *crowd) rivals(joined int, m history.Mode) int {
	n := c.alive[history.Exclusive].sum(joined)
	if m == history.Exclusive {
		n += c.alive[history.Shared].sum(joined)
	}
	return n
}

// lasts says until when a grant of the crowd may hold its key.
func (k *key) lasts() time.Duration {
	if k.crowd == nil {
		return 0
	}
	return k.crowd.until
}

// endings orders a crowd by when its holds end.
type endings crowd

func (h *endings) Len() int           { return len(h.ends) }
func (h *endings) Less(a, b int) bool { return h.ends[a].at < h.ends[b].at }
func (h *endings) Swap(a, b int)      { h.ends[a], h.ends[b] = h.ends[b], h.ends[a] }
func (h *endings) Push(x any)         { h.ends = append(h.ends, x.(ending)) }
func (h *endings) Pop() any {
	last := len(h.ends) - 1
	x := h.ends[last]
	h.ends = h.ends[:last]
	return x
}

// A fenwick counts the members up to any place in logarithmic time (Fenwick,
// "A new data structure for cumulative frequency tables", 1994).
type fenwick []int32

// grow adds a place with n.
func (f *fenwick) grow(n int32) {
	i := len(*f) + 1
	for below := 1; below < i&-i; below *= 2 {
		n += (*f)[i-below-1]
	}
	*f = append(*f, n)
}

func (f fenwick) add(at int, n int32) {
	for i := at + 1; i <= len(f); i += i & -i {
		f[i-1] += n
	}
}

// sum is the count of the first n places.
func (f fenwick) sum(n int) (sum int) {
	for i := n; i > 0; i -= i & -i {
		sum += int(f[i-1])
	}
	return sum
}
