package workload

import (
	"slices"
	"sync"
)

// alone is the end of the final phase, in which each key is left to one client; nil where there
// is none.
type alone struct {
	begun <-chan struct{} // closed when it begins
	over  func()          // ends the phase

	mu   sync.Mutex
	left map[string]bool // keys of this process's clients that have not been granted there
}

// aloneTries are the tries that a client has at one of its keys before it turns to the next.
const aloneTries = 5

// isOn reports whether it has begun.
func (a *alone) isOn() bool { return a != nil && isClosed(a.begun) }

// granted notes which keys were granted there. Once none is left to a client of this process, the
// phase ends here.
func (a *alone) granted(keys ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range keys {
		delete(a.left, key)
	}
	if len(a.left) == 0 {
		a.over()
	}
}

// leave notes a key that is left to a client of this process.
func (a *alone) leave(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left[key] = true
}

// mine lists the keys that are left to one of so many actors.
func (p *phase) mine(actor, actors int) (keys []int) {
	for key := actor; key < p.cfg.Keys; key += actors {
		keys = append(keys, key)
		if p.alone != nil {
			p.alone.leave(p.cfg.Key(key))
		}
	}
	return keys
}

func (w *worker) nextOfMine() int {
	key := w.mine[0]
	w.mine = append(w.mine[1:], key)
	return key
}

// leaves reports whether a key is another client's to ask for, or has been asked for so often
// that the client's other keys come next.
func (w *worker) leaves(a arrival, tries int) bool {
	return w.alone.isOn() && (tries >= aloneTries || !slices.ContainsFunc(w.mine, func(key int) bool { return w.cfg.Key(key) == a.keys[0] }))
}
