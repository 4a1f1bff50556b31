package workload

import "sync"

// askers counts who, of this process's clients, asks for each of some keys. It is safe for concurrent use.
//
// The last one who asks for a key that is held for long does not give up: what befalls a holder's
// renewals shows only where somebody else asks when the lease runs out.
type askers struct {
	mu sync.Mutex
	by map[string]int
}

// join counts one more, until it leaves, and reports whether there was nobody before.
func (a *askers) join(key string) (first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[string]int{}
	}
	a.by[key]++
	return a.by[key] == 1
}

// leave counts one less.
func (a *askers) leave(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.by[key]--
}

// leaveUnlessLast counts one less, unless nobody else is left, and reports whether it did.
func (a *askers) leaveUnlessLast(key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by[key] == 1 {
		return false
	}
	a.by[key]--
	return true
}
