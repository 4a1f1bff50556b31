// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"sync"
	"time"

	"locktorture/lockimpl/mutants/internal/planted/node"
)

// A listener is this client's ear on one node: one subscription to one channel
// of its own, begun at the first wait and kept until Close.
type listener struct {
	once  sync.Once
	heard sync.Once
}

// hearing bounds the wait for subscriptions: a waiter that misses a wake-up
// asks again soon enough.
const hearing = 50 * time.Millisecond

func (l *Lock) channels() string { return l.cfg.Prefix + ":wake:" }

// listen makes sure that this client hears the nodes, and returns when a
// quorum of them can be heard. A wake-up that is missed costs a waiter until
// its next poll.
func (l *Lock) listen(ctx context.Context) {
	for i := range l.nodes {
		l.listeners[i].once.Do(func() { l.subscribe(i) })
	}
	_ = within(ctx, hearing, l.hears)
}

func (l *Lock) subscribe(i int) {
	ear := node.Ear{
		Ready: func() {
			l.listeners[i].heard.Do(func() {
				if int(l.ears.Add(1)) == l.quorum {
					close(l.hears)
				}
			})
		},
		Hear: func(member string) { l.lines.wake(member, i) },
		Draw: l.draw,
	}
	l.spawn(func() { l.nodes[i].Subscribe(l.ctx, l.channels()+l.id, ear) })
}

// waker is a waiter's inbox: it rings when a quorum of nodes has said that the
// lock may be had, or when something nearer by says so.
type waker struct {
	mu     sync.Mutex
	nodes  uint64 // nodes heard of since reset, as bits
	quorum int
	heard  int
	bell   chan struct{}
}

func newWaker(quorum int) *waker { return &waker{quorum: quorum, bell: make(chan struct{}, 1)} }

func (w *waker) reset() {
	w.mu.Lock()
	w.nodes, w.heard = 0, 0
	w.mu.Unlock()
	select {
	case <-w.bell:
	default:
	}
}

func (w *waker) hear(node int) {
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

func (w *waker) ring() {
	select {
	case w.bell <- struct{}{}:
	default:
	}
}
