package link

import "sync/atomic"

// notices is how a link impairs its notification connections alone: those that
// have subscribed. A proxy cannot tell them from others, so these impairments
// act at the client's end; clients in other processes do not suffer them.
type notices struct {
	cuts, losses atomic.Int64 // impairments in force
	severed      atomic.Int64 // connections closed
	swallowed    atomic.Int64 // bytes, either way
}

// notifies reports whether a kind impairs notification connections alone.
func (k Kind) notifies() bool { return k == NotifyCut || k == NotifyLost }

// of returns the count of the impairments of one kind.
func (n *notices) of(k Kind) *atomic.Int64 {
	if k == NotifyCut {
		return &n.cuts
	}
	return &n.losses
}

// severs reports whether a connection that has just subscribed is to be closed.
func (c *conn) severs() bool { return c.link.notices.cuts.Load() > 0 && c.deaf.Load() }

// swallows reports whether n bytes of a notification connection vanish.
func (c *conn) swallows(n int) bool {
	if n <= 0 || !c.deaf.Load() || c.link.notices.losses.Load() == 0 {
		return false
	}
	c.holed.Store(true)
	c.link.notices.swallowed.Add(int64(n))
	return true
}

// severNotices closes the notification connections that match.
func (l *proxyLink) severNotices(match func(*conn) bool) {
	l.mu.Lock()
	conns := make([]*conn, 0, len(l.conns))
	for c := range l.conns {
		if c.deaf.Load() && match(c) {
			conns = append(conns, c)
		}
	}
	l.mu.Unlock()
	for _, c := range conns {
		c.reset()
		l.notices.severed.Add(1)
	}
}

// applyNotices puts an impairment of notification connections in force.
func (a *applied) applyNotices() {
	a.link.notices.of(a.notify).Add(1)
	a.noticed = true
	if a.notify == NotifyCut {
		a.link.severNotices(func(*conn) bool { return true })
	}
}

// removeNotices ends it. Connections that lost bytes are closed: their streams
// have holes.
func (a *applied) removeNotices() {
	if !a.noticed {
		return
	}
	a.noticed = false
	if left := a.link.notices.of(a.notify).Add(-1); left == 0 && a.notify == NotifyLost {
		a.link.severNotices(func(c *conn) bool { return c.holed.Load() })
	}
}

// countNotices says what the impairment has done to notification connections.
func (a *applied) countNotices(now counts) Impact {
	if a.notify == NotifyCut {
		return Impact{Conns: int(now.severed - a.before.severed)}
	}
	return Impact{Bytes: now.swallowed - a.before.swallowed}
}
