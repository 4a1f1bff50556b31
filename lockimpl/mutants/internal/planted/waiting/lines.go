// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

// Package waiting is what one client keeps in its own process about those who
// wait for keys: who is in line before whom, whom to wake, and which keys somebody
// means to write.
package waiting

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Lines holds who waits in this process: one line per key.
type Lines struct {
	mu       sync.Mutex
	byKey    map[string]*line
	byMember map[string]*Waker // those who contend, by their name in the queue
	closing  chan struct{}     // closed by Close
	why      error             // Close was called
}

// A Lease is what came of a turn. Its methods may wait for its release to be sent, which
// ends with Poke: they are called without the mutex of the Lines.
type Lease interface {
	// Lost returns a channel that is closed when the lease has been given back or
	// has ended.
	Lost() <-chan struct{}

	// AwaitReleaseSent returns when the release that gave the lease back, if one did, has
	// been put to the nodes.
	AwaitReleaseSent()
}

// A line is the waiters of one client for one key. The first contends, the
// others wait for their turn without any traffic.
type line struct {
	turns  []chan struct{}
	wakers []*Waker // of those who contend, to be rung by a release nearby
	ahead  Lease    // of the one whose turn ended last
	last   error    // what the nodes said to who contended last, unless that was a grant
	noted  time.Time

	kept time.Time // when those behind the leader had their places kept

	inVain int       // how often fewer nodes than a quorum named some of them, since it was their turn last
	asks   time.Time // when who was named last so asks
}

func (q *Lines) line(key string) *line {
	if q.byKey == nil {
		q.byKey, q.byMember, q.closing = map[string]*line{}, map[string]*Waker{}, make(chan struct{})
	}
	ln := q.byKey[key]
	if ln == nil {
		ln = &line{}
		q.byKey[key] = ln
	}
	return ln
}

// Enter returns when it is the caller's turn to contend for key: when nobody
// of this client is ahead in the line, or holds the key after a turn in it.
// leave ends the turn; it is told the lease that came of it, or nil. When ctx ends
// first the error is an *Ended, and after Close it is that of Close.
func (q *Lines) Enter(ctx context.Context, key string) (leave func(Lease), err error) {
	turn := make(chan struct{})
	leave = func(got Lease) { q.leave(key, turn, got) }
	q.mu.Lock()
	ln := q.line(key)
	ln.turns = append(ln.turns, turn)
	first := len(ln.turns) == 1
	q.mu.Unlock()
	if first {
		return leave, nil
	}
	select {
	case <-turn:
		err = q.follow(ctx, key)
	case <-ctx.Done():
		err = ctx.Err()
	case <-q.closing:
	}
	if q.closed() != nil {
		leave(nil)
		return nil, q.closed()
	}
	if err != nil {
		ended := q.ended(key, err)
		leave(nil)
		return nil, ended
	}
	return leave, nil
}

// Ended is why a turn did not come, with what is known of the key: that somebody of this
// client has it, or what those ahead were told by the nodes; nil is nothing.
type Ended struct {
	Cause   error // of the context
	Granted bool
	Last    error
}

// Error implements error.
func (e *Ended) Error() string { return "the turn did not come: " + e.Cause.Error() }

func (q *Lines) ended(key string, cause error) *Ended {
	q.mu.Lock()
	ln := q.byKey[key]
	ahead, last := ln.ahead, ln.last
	q.mu.Unlock()
	return &Ended{Cause: cause, Granted: last == nil && isHeld(ahead), Last: last}
}

// isHeld reports whether the lease that came of the last turn, if one did, is neither over nor
// given back.
func isHeld(ahead Lease) bool {
	if ahead == nil {
		return false
	}
	select {
	case <-ahead.Lost():
		return false
	default:
		return true
	}
}

// Told returns what the nodes said to an attempt on key, if that was after a time, or nil.
func (q *Lines) Told(key string, after time.Time) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ln := q.byKey[key]; ln != nil && ln.noted.After(after) {
		return ln.last
	}
	return nil
}

// Note remembers what the nodes said to an attempt on key, for those who wait behind it.
func (q *Lines) Note(key string, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ln := q.byKey[key]; ln != nil {
		ln.last, ln.noted = err, time.Now()
	}
}

// follow returns when the lease ahead has been given back or has ended. The
// nodes would refuse an attempt before that; one that is made now goes out with
// the release, behind it.
func (q *Lines) follow(ctx context.Context, key string) error {
	q.mu.Lock()
	ahead := q.byKey[key].ahead
	q.mu.Unlock()
	if ahead == nil {
		return nil
	}
	select {
	case <-ahead.Lost():
		ahead.AwaitReleaseSent()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-q.closing:
		return nil
	}
}

// Close ends every wait in a line with err, and rings who contends.
func (q *Lines) Close(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.why = err
	if q.closing != nil {
		close(q.closing)
	}
	for _, w := range q.byMember {
		w.ring()
	}
}

func (q *Lines) closed() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.why
}

func (q *Lines) leave(key string, turn chan struct{}, got Lease) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ln := q.byKey[key]
	i := slices.Index(ln.turns, turn)
	ln.turns = slices.Delete(ln.turns, i, i+1)
	if i == 0 && len(ln.turns) > 0 {
		if got != nil {
			ln.ahead, ln.last = got, nil
		}
		close(ln.turns[0])
	}
	q.tidy(key, ln)
}

func (q *Lines) tidy(key string, ln *line) {
	if len(ln.turns) == 0 && len(ln.wakers) == 0 {
		delete(q.byKey, key)
	}
}

// Join lets w be rung for key, by the name member.
func (q *Lines) Join(key, member string, w *Waker) (leave func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ln := q.line(key)
	ln.wakers = append(ln.wakers, w)
	q.byMember[member] = w
	ln.lead()
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.byMember, member)
		i := slices.Index(ln.wakers, w)
		ln.wakers = slices.Delete(ln.wakers, i, i+1)
		ln.lead()
		q.tidy(key, ln)
	}
}

// Idle reports whether nobody of this client contends for key.
func (q *Lines) Idle(key string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	ln := q.byKey[key]
	return ln == nil || len(ln.wakers) == 0
}

// Wake passes on what a node said to a member.
func (q *Lines) Wake(member string, node int) {
	q.mu.Lock()
	w := q.byMember[member]
	q.mu.Unlock()
	if w != nil {
		w.hear(node)
	}
}

// RingAll rings all who contend for key: one of them was told what each will be told.
func (q *Lines) RingAll(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ln := q.byKey[key]; ln != nil {
		for _, w := range ln.wakers {
			w.ring()
		}
	}
}

// Recall rings who asks by itself for any key: the nodes may have said meanwhile that it may
// be had, and nobody was there to hear it.
func (q *Lines) Recall() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, ln := range q.byKey {
		for _, w := range ln.wakers {
			if w.asks() {
				w.ring()
			}
		}
	}
}

// Poke rings the first of those who contend for key, after this client has sent a release:
// its next attempt follows that on every node. The nodes wake the others in their turn; were
// all of them rung, a line of n would cost n attempts for each hand-over.
func (q *Lines) Poke(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ln := q.byKey[key]; ln != nil && len(ln.wakers) > 0 {
		ln.wakers[0].ring()
	}
}
