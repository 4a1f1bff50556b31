// Package agenda does things at instants.
package agenda

import (
	"container/heap"
	"sync"
	"time"
)

// An Agenda does things at their instants, one after the other, from a single
// goroutine: with one goroutine per message each would grow a stack of its own.
// Things of one instant are done in the order in which they were entered.
type Agenda struct {
	timer *time.Timer
	ended chan struct{}
	done  chan struct{}

	mu   sync.Mutex
	due  entries
	last uint64
	wake time.Time // when the timer fires; zero: it does not
}

// New returns an Agenda, which End ends.
func New() *Agenda {
	a := &Agenda{timer: time.NewTimer(time.Hour), ended: make(chan struct{}), done: make(chan struct{})}
	a.timer.Stop()
	go a.work()
	return a
}

// At enters something to do. It must not block.
func (a *Agenda) At(t time.Time, do func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	heap.Push(&a.due, entry{t, a.last, do})
	a.arm()
}

// arm sets the timer on the first thing due. The caller holds mu.
func (a *Agenda) arm() {
	if len(a.due) == 0 {
		return
	}
	if first := a.due[0].at; a.wake.IsZero() || first.Before(a.wake) {
		a.wake = first
		a.timer.Reset(time.Until(first))
	}
}

// work does what is due until End.
func (a *Agenda) work() {
	defer close(a.done)
	for {
		select {
		case <-a.timer.C:
		case <-a.ended:
			return
		}
		for {
			do := a.next()
			if do == nil {
				break
			}
			do()
		}
	}
}

// next takes the next thing that is due; nil when there is none, and the timer is
// set on the one after.
func (a *Agenda) next() func() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.due) == 0 || a.due[0].at.After(time.Now()) {
		a.wake = time.Time{}
		a.arm()
		return nil
	}
	return heap.Pop(&a.due).(entry).do
}

// Close drops what is not done yet, and waits for the goroutine.
func (a *Agenda) Close() {
	close(a.ended)
	<-a.done
	a.timer.Stop()
}

// An entry is one thing to do.
type entry struct {
	at    time.Time
	order uint64
	do    func()
}

// entries are a heap.
type entries []entry

func (e entries) Len() int { return len(e) }
func (e entries) Less(i, j int) bool {
	if !e[i].at.Equal(e[j].at) {
		return e[i].at.Before(e[j].at)
	}
	return e[i].order < e[j].order
}
func (e entries) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *entries) Push(x any)   { *e = append(*e, x.(entry)) }
func (e *entries) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = entry{}
	*e = (*e)[:last]
	return x
}
