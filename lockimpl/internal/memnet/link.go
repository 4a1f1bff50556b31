// Package memnet is a network in memory, for tests in virtual time. A write
// never blocks, a read waits on channels only, and each way of a link can be
// held up, drained or delayed, so that a test decides what arrives when.
package memnet

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// A Link is what one client's connections to one server pass through.
type Link struct {
	Up   Way // requests
	Down Way // replies

	mu      sync.Mutex
	serve   func(net.Conn)
	refused bool
	open    []*Conn
}

// New returns a link to a server; serve takes over the server's end of a
// connection and must return.
func New(serve func(net.Conn)) *Link { return &Link{serve: serve} }

var errRefused = errors.New("connection refused")

// Dial opens a connection. It fits a node's Dial.
func (l *Link) Dial(context.Context, string, string) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused {
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: errRefused}
	}
	up, down := l.Up.pipe(), l.Down.pipe()
	client := &Conn{in: down, out: up}
	l.open = append(l.open, client)
	l.serve(&Conn{in: up, out: down})
	return client, nil
}

// Refuse makes dialling fail, or work again.
func (l *Link) Refuse(yes bool) {
	l.mu.Lock()
	l.refused = yes
	l.mu.Unlock()
}

// Serve replaces the server, and closes the connections to the one before.
func (l *Link) Serve(serve func(net.Conn)) {
	l.mu.Lock()
	l.serve = serve
	l.mu.Unlock()
	l.Cut()
}

// Cut closes every open connection, as a reset does: what is under way towards
// the client is lost, what is under way towards the server arrives.
func (l *Link) Cut() {
	l.mu.Lock()
	open := l.open
	l.open = nil
	l.mu.Unlock()
	for _, c := range open {
		c.in.discard()
		_ = c.Close()
	}
}

// Lose closes every connection, as when the server's process ends: what is under
// way arrives neither here nor there.
func (l *Link) Lose() {
	l.Up.discard()
	l.Cut()
}

// Late reports whether a request is still under way.
func (l *Link) Late() bool {
	l.Up.mu.Lock()
	defer l.Up.mu.Unlock()
	return slices.ContainsFunc(l.Up.pipes, (*pipe).pending)
}

// A Way is one direction of a link. Its zero value is open.
type Way struct {
	mu    sync.Mutex
	pipes []*pipe
	hold  bool
	drop  bool
	delay time.Duration
}

// Hold keeps everything from arriving until Free: what is written meanwhile
// arrives then, even when its sender has closed the connection.
func (w *Way) Hold() { w.set(func() { w.hold = true }) }

// Drop loses what is written until Free.
func (w *Way) Drop() { w.set(func() { w.drop = true }) }

// Free ends Hold and Drop.
func (w *Way) Free() { w.set(func() { w.hold, w.drop = false, false }) }

// Delay lets everything that is written from now on arrive d later.
func (w *Way) Delay(d time.Duration) { w.set(func() { w.delay = d }) }

func (w *Way) set(change func()) {
	w.mu.Lock()
	change()
	pipes := w.pipes
	w.mu.Unlock()
	for _, p := range pipes {
		p.poke()
	}
}

func (w *Way) discard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.pipes {
		p.discard()
	}
}

func (w *Way) pipe() *pipe {
	p := &pipe{way: w, wake: make(chan struct{}, 1)}
	w.mu.Lock()
	w.pipes = append(w.pipes, p)
	w.mu.Unlock()
	return p
}

func (w *Way) state() (hold, drop bool, delay time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hold, w.drop, w.delay
}
