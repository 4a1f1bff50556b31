// Package waiting is what one client keeps in its own process about those who
// wait for keys: who is in line before whom, whom to wake, and which keys somebody
// means to write.
package waiting

import (
	"context"
	"slices"
	"sync"
)

// Lines holds who waits in this process: one line per key.
type Lines struct {
	mu       sync.Mutex
	byKey    map[string]*line
	byMember map[string]*Waker // those who contend, by their name in the queue
}

// A Lease is what came of a turn.
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
}

func (q *Lines) line(key string) *line {
	if q.byKey == nil {
		q.byKey, q.byMember = map[string]*line{}, map[string]*Waker{}
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
// leave ends the turn; it is told the lease that came of it, or nil.
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
	}
	if err != nil {
		leave(nil)
		return nil, err
	}
	return leave, nil
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
	}
}

func (q *Lines) leave(key string, turn chan struct{}, got Lease) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ln := q.byKey[key]
	i := slices.Index(ln.turns, turn)
	ln.turns = slices.Delete(ln.turns, i, i+1)
	if i == 0 && len(ln.turns) > 0 {
		if got != nil {
			ln.ahead = got
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
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.byMember, member)
		i := slices.Index(ln.wakers, w)
		ln.wakers = slices.Delete(ln.wakers, i, i+1)
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

// Poke rings who contends for key, after this client has sent a release: the
// next attempt follows it on every node.
func (q *Lines) Poke(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ln := q.byKey[key]; ln != nil {
		for _, w := range ln.wakers {
			w.ring()
		}
	}
}
