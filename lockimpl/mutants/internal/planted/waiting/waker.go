// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package waiting

import (
	"sync"
	"sync/atomic"
)

// A Waker is a waiter's inbox: it rings when a quorum of nodes has said that the
// lock may be had, or when something nearer by says so.
type Waker struct {
	Place Place // set before it joins a line, of who has its place kept by others

	resting, leads atomic.Bool
	keeping        atomic.Int32 // those who are about to keep its place
	gone           atomic.Bool
	news           chan struct{} // a node was heard, or the waiter leads now

	mu     sync.Mutex
	nodes  uint64 // nodes heard of since reset, as bits
	quorum int
	heard  int
	bell   chan struct{}
}

// NewWaker returns a Waker that rings when so many nodes were heard.
func NewWaker(quorum int) *Waker {
	return &Waker{quorum: quorum, bell: make(chan struct{}, 1), news: make(chan struct{}, 1)}
}

// Reset forgets what was heard.
func (w *Waker) Reset() {
	w.mu.Lock()
	w.nodes, w.heard = 0, 0
	w.mu.Unlock()
	select {
	case <-w.bell:
	default:
	}
	select {
	case <-w.news:
	default:
	}
}

func (w *Waker) hear(node int) {
	w.mu.Lock()
	if bit := uint64(1) << node; w.nodes&bit == 0 {
		w.nodes |= bit
		w.heard++
	}
	enough, first := w.heard >= w.quorum, w.heard == 1
	w.mu.Unlock()
	switch {
	case enough:
		w.ring()
	case first:
		w.tell()
	}
}

// isNamed reports whether a node has said that the lock may be had.
func (w *Waker) isNamed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heard > 0
}

// tell has the waiter look at what has changed.
func (w *Waker) tell() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

func (w *Waker) ring() {
	select {
	case w.bell <- struct{}{}:
	default:
	}
}
