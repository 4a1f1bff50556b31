package link

import "sync/atomic"

// notices is how a link hurts its notification connections alone: those that
// have subscribed. A proxy cannot tell them from others, so these impairments
// act at the client's end; clients in other processes do not suffer them.
type notices struct {
	cuts, losses atomic.Int64 // wounds in force
	severed      atomic.Int64 // connections closed
	swallowed    atomic.Int64 // bytes, either way
}

// notifies reports whether a kind hurts notification connections alone.
func (k Kind) notifies() bool { return k == NotifyCut || k == NotifyLost }

// of returns the count of the wounds of one kind.
func (n *notices) of(k Kind) *atomic.Int64 {
	if k == NotifyCut {
		return &n.cuts
	}
	return &n.losses
}

// severs reports whether a connection that has just subscribed is to be closed.
func (c *conn) severs() bool { return c.road.notices.cuts.Load() > 0 && c.deaf.Load() }

// swallows reports whether n bytes of a notification connection vanish.
func (c *conn) swallows(n int) bool {
	if n <= 0 || !c.deaf.Load() || c.road.notices.losses.Load() == 0 {
		return false
	}
	c.holed.Store(true)
	c.road.notices.swallowed.Add(int64(n))
	return true
}

// severNotices closes the notification connections that match.
func (r *road) severNotices(match func(*conn) bool) {
	r.mu.Lock()
	conns := make([]*conn, 0, len(r.conns))
	for c := range r.conns {
		if c.deaf.Load() && match(c) {
			conns = append(conns, c)
		}
	}
	r.mu.Unlock()
	for _, c := range conns {
		c.reset()
		r.notices.severed.Add(1)
	}
}

// inflictNotices puts a wound of notification connections in force.
func (w *wound) inflictNotices() {
	w.road.notices.of(w.notify).Add(1)
	w.noticed = true
	if w.notify == NotifyCut {
		w.road.severNotices(func(*conn) bool { return true })
	}
}

// mendNotices ends it. Connections that lost bytes are closed: their streams
// have holes.
func (w *wound) mendNotices() {
	if !w.noticed {
		return
	}
	w.noticed = false
	if left := w.road.notices.of(w.notify).Add(-1); left == 0 && w.notify == NotifyLost {
		w.road.severNotices(func(c *conn) bool { return c.holed.Load() })
	}
}

// countNotices says what the wound has done to notification connections.
func (w *wound) countNotices(now counts) Bite {
	if w.notify == NotifyCut {
		return Bite{Conns: int(now.severed - w.before.severed)}
	}
	return Bite{Bytes: now.swallowed - w.before.swallowed}
}
