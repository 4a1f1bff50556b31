package ledger

import "sort"

// A tokenOrder is how the highest accepted token of one key grew in the store's own order,
// whatever the order in which the history tells of the writes.
type tokenOrder struct {
	steps   []tokenStep // ascending in seq and fence
	last    TokenMark   // the last accepted write of all
	dropped uint64      // writes before this number can no longer be placed; 0 is none
}

// A tokenStep is the first accepted write with a token, and the last accepted one
// before the next step.
type tokenStep struct {
	TokenMark
	last TokenMark
}

// behind is the first of the step's writes that is known to have a higher number.
func (s *tokenStep) behind(seq uint64) TokenMark {
	switch {
	case s.Seq > seq:
		return s.TokenMark
	case s.last.Seq > seq:
		return s.last
	}
	return TokenMark{}
}

// TokenSteps is how many steps a key remembers: a write that is told of later than this many
// higher tokens cannot be placed any more.
const TokenSteps = 32

// add places an accepted write. It returns the highest token accepted before it,
// with the write that carried it, and the first write accepted after it with a
// lower token; a seq of 0 is none. It reports whether the write could be placed.
func (c *tokenOrder) add(w TokenMark) (above, below TokenMark, ok bool) {
	n := len(c.steps)
	if n > 0 && w.Fence == c.steps[n-1].Fence && w.Seq > c.last.Seq { // mostly
		c.last = w
		return c.steps[n-1].TokenMark, below, true
	}
	if n > 0 {
		c.steps[n-1].last = c.last
	}
	defer func() { c.last = c.steps[len(c.steps)-1].last }()
	i := n
	if n > 0 && w.Seq <= c.steps[n-1].last.Seq { // of two with one number, neither came first
		i = sort.Search(n, func(i int) bool { return c.steps[i].Seq >= w.Seq })
	}
	if i == 0 && w.Seq < c.dropped { // the steps are not empty then
		return above, below, false
	}
	if i > 0 {
		s := &c.steps[i-1]
		above = s.TokenMark
		if w.Fence <= s.Fence {
			if w.Seq > s.last.Seq {
				s.last = w
			}
			return above, below, true
		}
		if s.last.Seq > w.Seq {
			below = s.last
		}
	}
	return above, c.insert(i, w, below), true
}

// Before is the highest token known to have been accepted before seq; 0 is none.
func (c *tokenOrder) Before(seq uint64) uint64 {
	i := sort.Search(len(c.steps), func(i int) bool { return c.steps[i].Seq >= seq })
	if i == 0 {
		return 0
	}
	return c.steps[i-1].Fence
}

// insert makes w the i-th step, and removes the steps behind it whose token is no higher.
func (c *tokenOrder) insert(i int, w, below TokenMark) TokenMark {
	step := tokenStep{w, w}
	if below.Seq != 0 {
		step.last = below
	}
	k := i
	for ; k < len(c.steps) && c.steps[k].Fence <= w.Fence; k++ {
		if below.Seq == 0 && c.steps[k].Fence < w.Fence {
			below = c.steps[k].behind(w.Seq)
		}
		step.last = c.steps[k].last
	}
	if k == i {
		c.steps = append(c.steps, tokenStep{})
		copy(c.steps[i+1:], c.steps[i:])
		k++
	}
	c.steps[i] = step
	c.steps = append(c.steps[:i+1], c.steps[k:]...)
	if len(c.steps) > TokenSteps {
		c.steps = c.steps[:copy(c.steps, c.steps[TokenSteps/2:])]
		c.dropped = c.steps[0].Seq
	}
	return below
}
