package workload

import "sync"

// askers counts who asks for each of the keys that are held for long. The last one who asks for such a key
// does not give up: what befalls a holder's renewals shows only where somebody else asks when the
// lease runs out. It is safe for concurrent use.
type askers struct {
	mu sync.Mutex
	by map[string]int
}

// join counts one more, until leave is called.
func (a *askers) join(key string) (leave func()) {
	a.add(key, 1)
	return func() { a.add(key, -1) }
}

func (a *askers) add(key string, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[string]int{}
	}
	a.by[key] += n
}

// isOne reports whether one alone asks for a key.
func (a *askers) isOne(key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.by[key] == 1
}
