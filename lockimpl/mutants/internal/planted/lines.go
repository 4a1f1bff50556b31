// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"slices"
	"sync"
)

// lines holds who waits in this process: one line per key.
type lines struct {
	mu       sync.Mutex
	byKey    map[string]*line
	byMember map[string]*waker // those who contend, by their name in the queue
}

// A line is the waiters of one client for one key. The first contends, the
// others wait for their turn without any traffic.
type line struct {
	turns  []chan struct{}
	wakers []*waker // of those who contend, to be rung by a release nearby
	ahead  *lease   // of the one whose turn ended last
}

func (q *lines) line(key string) *line {
	if q.byKey == nil {
		q.byKey, q.byMember = map[string]*line{}, map[string]*waker{}
	}
	ln := q.byKey[key]
	if ln == nil {
		ln = &line{}
		q.byKey[key] = ln
	}
	return ln
}

// enter returns when it is the caller's turn to contend for key: when nobody
// of this client is ahead in the line, or holds the key after a turn in it.
// leave ends the turn; it is told the lease that came of it, or nil.
func (q *lines) enter(ctx context.Context, key string) (leave func(*lease), err error) {
	turn := make(chan struct{})
	leave = func(got *lease) { q.leave(key, turn, got) }
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
func (q *lines) follow(ctx context.Context, key string) error {
	q.mu.Lock()
	ahead := q.byKey[key].ahead
	q.mu.Unlock()
	if ahead == nil {
		return nil
	}
	select {
	case <-ahead.Lost():
		ahead.settled()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *lines) leave(key string, turn chan struct{}, got *lease) {
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

func (q *lines) tidy(key string, ln *line) {
	if len(ln.turns) == 0 && len(ln.wakers) == 0 {
		delete(q.byKey, key)
	}
}

// join lets w be rung for key, by the name member.
func (q *lines) join(key, member string, w *waker) (leave func()) {
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

// idle reports whether nobody of this client contends for key.
func (q *lines) idle(key string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	ln := q.byKey[key]
	return ln == nil || len(ln.wakers) == 0
}

// wake passes on what a node said to a member.
func (q *lines) wake(member string, node int) {
	q.mu.Lock()
	w := q.byMember[member]
	q.mu.Unlock()
	if w != nil {
		w.hear(node)
	}
}

// poke rings who contends for key, after this client has sent a release: the
// next attempt follows it on every node.
func (q *lines) poke(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ln := q.byKey[key]; ln != nil {
		for _, w := range ln.wakers {
			w.ring()
		}
	}
}
