package checker

import "sort"

// A climb is how the highest accepted token of one key grew in the store's own
// order, whatever the order in which the writes were told.
type climb struct {
	steps   []climbStep // ascending in seq and fence
	last    tokenMark   // the last accepted write of all
	dropped uint64      // writes before this number can no longer be placed; 0 is none
}

// A climbStep is the first accepted write with a token, and the last accepted one
// before the next step.
type climbStep struct {
	tokenMark
	last tokenMark
}

// behind is the first of the step's writes that is known to have a higher number.
func (s *climbStep) behind(seq uint64) tokenMark {
	switch {
	case s.seq > seq:
		return s.tokenMark
	case s.last.seq > seq:
		return s.last
	}
	return tokenMark{}
}

// climbSteps is how many steps a key remembers: a write that comes later than so
// many higher tokens cannot be placed any more.
const climbSteps = 32

// add places an accepted write. It returns the highest token accepted before it,
// with the write that carried it, and the first write accepted after it with a
// lower token; a seq of 0 is none. It reports whether the write could be placed.
func (c *climb) add(w tokenMark) (above, below tokenMark, ok bool) {
	n := len(c.steps)
	if n > 0 && w.fence == c.steps[n-1].fence && w.seq > c.last.seq { // mostly
		c.last = w
		return c.steps[n-1].tokenMark, below, true
	}
	if n > 0 {
		c.steps[n-1].last = c.last
	}
	defer func() { c.last = c.steps[len(c.steps)-1].last }()
	i := n
	if n > 0 && w.seq <= c.steps[n-1].last.seq { // of two with one number, neither came first
		i = sort.Search(n, func(i int) bool { return c.steps[i].seq >= w.seq })
	}
	if i == 0 && w.seq < c.dropped { // the steps are not empty then
		return above, below, false
	}
	if i > 0 {
		s := &c.steps[i-1]
		above = s.tokenMark
		if w.fence <= s.fence {
			if w.seq > s.last.seq {
				s.last = w
			}
			return above, below, true
		}
		if s.last.seq > w.seq {
			below = s.last
		}
	}
	return above, c.insert(i, w, below), true
}

// before is the highest token known to have been accepted before seq; 0 is none.
func (c *climb) before(seq uint64) uint64 {
	i := sort.Search(len(c.steps), func(i int) bool { return c.steps[i].seq >= seq })
	if i == 0 {
		return 0
	}
	return c.steps[i-1].fence
}

// insert makes w the i-th step, and takes out those behind it that are no higher.
func (c *climb) insert(i int, w, below tokenMark) tokenMark {
	step := climbStep{w, w}
	if below.seq != 0 {
		step.last = below
	}
	k := i
	for ; k < len(c.steps) && c.steps[k].fence <= w.fence; k++ {
		if below.seq == 0 && c.steps[k].fence < w.fence {
			below = c.steps[k].behind(w.seq)
		}
		step.last = c.steps[k].last
	}
	if k == i {
		c.steps = append(c.steps, climbStep{})
		copy(c.steps[i+1:], c.steps[i:])
		k++
	}
	c.steps[i] = step
	c.steps = append(c.steps[:i+1], c.steps[k:]...)
	if len(c.steps) > climbSteps {
		c.steps = c.steps[:copy(c.steps, c.steps[climbSteps/2:])]
		c.dropped = c.steps[0].seq
	}
	return below
}
