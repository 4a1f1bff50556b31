package workload

import "sync"

// A headcount is how many of this process's clients do something with each of some keys. It is safe for concurrent use.
type headcount struct {
	mu sync.Mutex
	by map[string]int
}

// join counts one more, until it leaves, and reports whether there was nobody before.
func (c *headcount) join(key string) (first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]int{}
	}
	c.by[key]++
	return c.by[key] == 1
}

// leave counts one less.
func (c *headcount) leave(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by[key]--
}

// leaveUnlessLast counts one less, unless nobody else is left, and reports whether it did.
func (c *headcount) leaveUnlessLast(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[key] == 1 {
		return false
	}
	c.by[key]--
	return true
}
