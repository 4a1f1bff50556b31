package waiting

import (
	"context"
	"sync"
	"time"
)

// A Waker is a waiter's inbox: it rings when a quorum of nodes has said that the
// lock may be had, or when something nearer by says so.
type Waker struct {
	mu     sync.Mutex
	nodes  uint64 // nodes heard of since reset, as bits
	quorum int
	heard  int
	bell   chan struct{}
}

// NewWaker returns a Waker that rings when so many nodes were heard.
func NewWaker(quorum int) *Waker { return &Waker{quorum: quorum, bell: make(chan struct{}, 1)} }

// Reset forgets what was heard.
func (w *Waker) Reset() {
	w.mu.Lock()
	w.nodes, w.heard = 0, 0
	w.mu.Unlock()
	select {
	case <-w.bell:
	default:
	}
}

func (w *Waker) hear(node int) {
	w.mu.Lock()
	if bit := uint64(1) << node; w.nodes&bit == 0 {
		w.nodes |= bit
		w.heard++
	}
	enough := w.heard >= w.quorum
	w.mu.Unlock()
	if enough {
		w.ring()
	}
}

func (w *Waker) ring() {
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

// Wait returns after d at the latest, and earlier when w rings; it reports
// false when ctx ended first.
func (w *Waker) Wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.bell:
		return true
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
