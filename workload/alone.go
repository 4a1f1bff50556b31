package workload

import (
	"slices"
	"sync"
	"time"

	"locktorture/workload/history"
)

// alone is the end of the final phase, in which each key is left to one client; nil where there
// is none.
type alone struct {
	begun <-chan struct{} // closed when it begins
	over  func()          // ends the phase

	mu   sync.Mutex
	left map[leftKey]bool // those of this process's clients that have not been granted there
}

// A leftKey is a key that a client is to be granted in one mode. One that can be read is asked
// for by turns: what is left behind may keep only readers out, or only writers.
type leftKey struct {
	key  string
	mode history.Mode
}

// aloneTries are the tries that a client has, at least, at one of its keys before it turns to the
// next.
const aloneTries = 5

// aloneTurn is for how many TTLs a client asks, at least, in one mode when it was refused in the other one
// before: a lock may keep the place in line of whoever was, for as long as a lease. So long does its first
// turn as a reader last too, of the only key that it has: what a writer left behind has to keep readers out
// for longer than a lease may, before another writer takes it away.
const aloneTurn = 2

// aloneShare is the part of a TTL that passes there between two tries, at least.
const aloneShare = 16

// isOn reports whether it has begun.
func (a *alone) isOn() bool { return a != nil && isClosed(a.begun) }

// granted notes what was granted there. Once nothing is left to a client of this process, the
// phase ends here.
func (a *alone) granted(keys ...leftKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range keys {
		delete(a.left, key)
	}
	if len(a.left) == 0 {
		a.over()
	}
}

// leave notes what is left to a client of this process.
func (a *alone) leave(key string, modes []history.Mode) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range modes {
		a.left[leftKey{key, m}] = true
	}
}

// mine lists the keys that are left to one of so many actors.
func (p *phase) mine(actor, actors int) (keys []int) {
	for key := actor; key < p.cfg.Keys; key += actors {
		keys = append(keys, key)
		if p.alone != nil {
			p.alone.leave(p.cfg.Key(key), p.modesOf())
		}
	}
	return keys
}

// modesOf lists the modes in which keys are asked for, readers first: what they leave behind lives
// on only while some read.
func (p *phase) modesOf() []history.Mode {
	if p.cfg.Mode == ModeRW || p.can.shared {
		return []history.Mode{history.Shared, history.Exclusive}
	}
	return []history.Mode{history.Exclusive}
}

// keeps reports whether a key is left to anybody here still, in some mode.
func (a *alone) keeps(key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.left[leftKey{key, history.Shared}] || a.left[leftKey{key, history.Exclusive}]
}

// nextOfMine draws an arrival for the next of the client's keys that it was not granted in each of
// its modes, in these by turns; there may be none. It asks for no other key: while one is held, a
// refusal for another one may be due to that, if the lock keeps both under one.
func (w *worker) nextOfMine() (a arrival, more bool) {
	n := slices.IndexFunc(w.mine, func(key int) bool { return w.alone.keeps(w.cfg.Key(key)) })
	if n < 0 {
		return a, false
	}
	key := w.mine[n]
	w.mine = slices.Concat(w.mine[n+1:], w.mine[:n+1])
	modes := w.modesOf()
	m := modes[w.asked[key]%len(modes)]
	w.asked[key]++
	if w.cfg.Mode == ModeMixed {
		return w.last(key, m), true
	}
	a = w.draw(w.rng, func() int { return key })
	a.mode = m
	return a, true
}

// leaves reports whether a key is another client's to ask for, or has been asked for so often,
// since began, that the client's other keys come next.
func (w *worker) leaves(a arrival, tries int, began time.Time) bool {
	if !w.alone.isOn() {
		return false
	}
	key := a.keys[0]
	if !slices.ContainsFunc(w.mine, func(mine int) bool { return w.cfg.Key(mine) == key }) {
		return true
	}
	turn := a.mode == history.Shared && len(w.mine) == 1 || w.refused[leftKey{key, a.mode.Other()}]
	if tries < aloneTries || turn && time.Since(began) < aloneTurn*w.cfg.TTL {
		return false
	}
	w.refused[leftKey{key, a.mode}] = true
	return true
}
