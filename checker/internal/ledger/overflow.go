package ledger

import (
	"container/heap"
	"time"

	"locktorture/workload/history"
)

// MostHeld is how many grants of one key are compared with each event one by one. Where more
// are live at once, the oldest are in the overflow, readers first.
const MostHeld = 64

// An overflow holds the live grants of a key beyond MostHeld. A later grant learns only how
// many of them it excludes: n grants that all hold at once are n²/2 double grants, and counting
// them costs n·log n.
type overflow struct {
	Members  []*Grant   // in the order in which they joined
	alive    [2]fenwick // of them, those whose hold is not known to be over, by mode
	ends     []ending
	until    time.Duration // when the last one's hold is over, at the latest
	Awaiting int           // double grants that are not judged yet

	processes map[int]bool // that acquired members
}

// An ending is when the hold of a member of an overflow seems to end.
type ending struct {
	at     time.Duration
	member int
}

// overflow adds g to k's overflow, and drops members whose hold was over by now.
func (l *Ledger) overflow(k *Key, g *Grant) {
	if k.Overflow == nil {
		k.Overflow = new(overflow)
	}
	c := k.Overflow
	c.Expire(l.Now)
	if n := c.alive[0].sum(len(c.Members)) + c.alive[1].sum(len(c.Members)); c.Awaiting == 0 && len(c.Members) > 2*n+MostHeld {
		c.compact()
	}
	c.admit(g)
}

// compact moves the members that are left to the front.
func (c *overflow) compact() {
	left := *c
	*c = overflow{until: left.until}
	for _, g := range left.Members {
		if g != nil {
			c.admit(g)
		}
	}
}

func (c *overflow) admit(g *Grant) {
	c.Members = append(c.Members, g)
	g.Place = int32(len(c.Members))
	if c.processes == nil {
		c.processes = make(map[int]bool)
	}
	c.processes[g.Process] = true
	c.alive[g.Mode].grow(1)
	c.alive[1-g.Mode].grow(0)
	c.reschedule(g)
}

// reschedule notes that g, a member, may end at another time than it seemed to.
func (c *overflow) reschedule(g *Grant) {
	c.until = max(c.until, g.End())
	heap.Push((*endings)(c), ending{g.End(), int(g.Place) - 1})
}

// Between counts, of the members that joined first, those that exclude g and whose hold surely
// overlaps g's from then on, by the clocks of those who stamped them, though not for longer
// than the widest uncertainty of two clocks.
func (c *overflow) Between(j *Ledger, g *Grant, joined int, from time.Duration) int {
	if !j.Clocks.Several() && !c.processes[g.Process] {
		return 0
	}
	c.Expire(from)
	if len(c.Members) < joined {
		return 0
	}
	n := 0
	for _, e := range c.ends {
		x := c.Members[e.member]
		if e.member >= joined || x == nil || x.End() != e.at || !Conflicts(x, g) {
			continue
		}
		if length := min(e.at, g.End()) - from; length > j.Apart(x, g) && length <= j.Header.Epsilon {
			n++
		}
	}
	return n
}

// Expire drops the members whose hold was over by t.
func (c *overflow) Expire(t time.Duration) {
	for len(c.ends) > 0 && c.ends[0].at <= t {
		m := heap.Pop((*endings)(c)).(ending).member
		g := c.Members[m]
		switch {
		case g == nil:
		case g.End() > t:
			c.reschedule(g)
		default:
			c.alive[g.Mode].add(m, -1)
			c.Members[m], g.Place = nil, 0
			g.Holder.Key.drop(g)
		}
	}
	if len(c.ends) == 0 && c.Awaiting == 0 {
		*c = overflow{until: c.until}
	}
}

// Excluding counts, of the members that joined first and are left, those that exclude a grant
// of mode m.
func (c *overflow) Excluding(joined int, m history.Mode) int {
	n := c.alive[history.Exclusive].sum(joined)
	if m == history.Exclusive {
		n += c.alive[history.Shared].sum(joined)
	}
	return n
}

// OverflowUntil is until when a grant of the overflow may hold its key.
func (k *Key) OverflowUntil() time.Duration {
	if k.Overflow == nil {
		return 0
	}
	return k.Overflow.until
}

// endings is an overflow as a heap, by when its holds end.
type endings overflow

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

// A fenwick is prefix sums over places, with updates in logarithmic time (Fenwick, "A new data
// structure for cumulative frequency tables", 1994).
type fenwick []int32

// grow appends a place of value n.
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

// sum is the sum of the first n places.
func (f fenwick) sum(n int) (sum int) {
	for i := n; i > 0; i -= i & -i {
		sum += int(f[i-1])
	}
	return sum
}
