package waiting

import (
	"context"
	"slices"
	"time"
)

// A Place is a writer's in the queue of the nodes. The zero Place is that of a waiter who
// keeps it by itself.
type Place struct {
	Member string
	Ticket int64 // us
	TTL    int64 // ms
}

// A Rest is how a waiter waits between two attempts. Of the waiters of one client for one
// key the first leads: it asks after each pause, and keeps the places of the others, who ask
// when they are rung. Were all of them to ask, what a line of n asks would grow with n.
type Rest struct {
	Pause time.Duration // of who leads
	Soon  time.Duration // of who has come to lead
	Named time.Duration // of who was named by fewer nodes than a quorum, where the others may have no place of it: the first time
	Every time.Duration // how often places are kept; the longest Named

	// Keep keeps the places of a line of several: its leader's too, since a place that was
	// lost is taken again before those behind it, whichever is asked for first.
	Keep func(line []*Waker)
}

// Rest returns when w is to ask again for key: when it rings, or its pause is over. It
// reports false when ctx ended first.
func (q *Lines) Rest(ctx context.Context, key string, w *Waker, r Rest) bool {
	w.resting.Store(true)
	defer w.resting.Store(false) // before anything else of the waiter's is sent
	asks, named := w.asks(), false
	timer := time.NewTimer(r.Pause)
	defer timer.Stop()
	until := time.Now().Add(r.Pause)
	for {
		if !asks && w.asks() {
			asks, until = true, time.Now().Add(r.Soon)
		}
		if !named && w.isNamed() {
			named = true
			if at := time.Now().Add(q.namedPause(key, r)); !asks || at.Before(until) {
				asks, until = true, at
			}
		}
		next, keeps := q.keep(key, w, r)
		if left := time.Until(until); asks && (!keeps || left < next) {
			next, keeps = left, true
		}
		var due <-chan time.Time
		if keeps {
			timer.Reset(next)
			due = timer.C
		}
		select {
		case <-w.bell:
			q.Progress(key)
			return true
		case <-due:
			if asks && !time.Now().Before(until) {
				return true
			}
		case <-w.news:
		case <-ctx.Done():
			return false
		}
	}
}

// namedPause is the pause of who was named by fewer nodes than a quorum. It doubles each time
// that one of the line has asked for this reason, until a quorum names one or one is granted:
// where the others are held, such a node grants each in vain, and names the next when that is
// undone.
func (q *Lines) namedPause(key string, r Rest) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	ln, now := q.byKey[key], time.Now()
	if ln.inVain == 0 || !now.Before(ln.asks) {
		ln.inVain++
		ln.asks = now.Add(ln.namedPause(r))
	}
	return ln.namedPause(r)
}

// namedPause is that of the line as it is. The mutex of the lines is held.
func (ln *line) namedPause(r Rest) time.Duration {
	times := min(ln.inVain-1, 16)
	if times == 0 {
		return r.Named
	}
	pause := max(r.Named, time.Millisecond)
	if pause > r.Every>>times {
		return r.Every
	}
	return pause << times
}

// Progress notes that a waiter for key was granted it, or may be.
func (q *Lines) Progress(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ln := q.byKey[key]; ln != nil {
		ln.inVain = 0
	}
}

// Resting reports whether the waiter has nothing else under way than its wait.
func (w *Waker) Resting() bool { return w.resting.Load() }

// IsKept reports whether somebody is about to keep the place of a waiter that rests no more:
// that may come behind what the waiter asks next.
func (w *Waker) IsKept() bool { return w.keeping.Load() > 0 }

// Leave notes that the waiter waits no more, before its places are taken away.
func (w *Waker) Leave() { w.gone.Store(true) }

// Left reports whether the waiter waits no more.
func (w *Waker) Left() bool { return w.gone.Load() }

// asks reports whether the waiter asks without being rung.
func (w *Waker) asks() bool { return w.Place == Place{} || w.leads.Load() }

// lead has the first who may lead do so. The mutex of the lines is held.
func (ln *line) lead() {
	i := slices.IndexFunc(ln.wakers, func(w *Waker) bool { return w.Place != Place{} })
	if i >= 0 && !ln.wakers[i].leads.Swap(true) {
		ln.wakers[i].tell()
	}
}

// keep has the places of those who rest kept when that is due, and returns when it will
// be again; keeps is false where w keeps nobody's.
func (q *Lines) keep(key string, w *Waker, r Rest) (next time.Duration, keeps bool) {
	if !w.leads.Load() {
		return 0, false
	}
	q.mu.Lock()
	ln := q.byKey[key]
	left := time.Until(ln.kept.Add(r.Every))
	if left > 0 {
		q.mu.Unlock()
		return left, true
	}
	ln.kept = time.Now()
	var line []*Waker
	for _, o := range ln.wakers {
		o.keeping.Add(1) // before it is asked whether it rests: it looks the other way round
		if o.Place != (Place{}) && o.Resting() {
			line = append(line, o)
		} else {
			o.keeping.Add(-1)
		}
	}
	q.mu.Unlock()
	if len(line) > 1 {
		r.Keep(line)
	}
	for _, o := range line {
		o.keeping.Add(-1)
	}
	return r.Every, true
}
