package reference

import (
	"fmt"
	"time"

	"locktorture/workload/history"
)

// invoke lets a client begin an operation: mostly what a careful client would
// do next, at times what it must not.
func (g *generator) invoke(c *client) {
	e := history.Event{Process: c.process, Kind: history.Invoke, Owner: c.owner, Key: g.keys[g.IntN(len(g.keys))]}
	var l lease
	if len(c.leases) > 0 {
		l = c.leases[g.IntN(len(c.leases))]
	}
	draw := g.IntN(20)
	switch {
	case l.key == "" && (draw < 19 || g.chance(.7)), draw < 2:
		e.Op = history.Acquire
		if g.modes && g.chance(.6) {
			e.Mode = history.Shared
		}
	case draw < 11 || l.key == "":
		e.Op, e.Value = history.Write, g.value(c)
		e.Fence = l.fence
		if g.chance(.04) && g.tokens {
			e.Fence = uint64(1 + g.IntN(4))
		}
	case draw < 14:
		e.Op, e.Fence = history.Extend, g.maybe(l.fence)
	default:
		e.Op, e.Fence = history.Release, g.maybe(l.fence)
	}
	if l.key != "" && (e.Op != history.Acquire || g.chance(.3)) {
		e.Key, e.Mode = l.key, max(e.Mode, l.mode)
	}
	for _, l := range c.leases {
		if l.key == e.Key { // nobody upgrades
			e.Mode = l.mode
		}
	}
	if e.Op == history.Write {
		g.read(&e)
	}
	g.append(e)
	c.open = &e
	e.Time = g.now
	if e.Op == history.Acquire || e.Op == history.Extend {
		g.edges = append(g.edges, g.now+g.h.Header.TTL-g.h.Header.Drift, g.now+g.h.Header.TTL)
	}
}

func (g *generator) value(c *client) string {
	g.values++
	return fmt.Sprintf("%s%d", c.owner, g.values)
}

// read gives a write the version that it starts from.
func (g *generator) read(e *history.Event) {
	if !g.rmw {
		return
	}
	e.Base, e.Has = g.state[e.Key].version, e.Has|history.HasBase
	if g.chance(.15) && e.Base > 0 {
		e.Base--
	}
}

// complete ends the client's open operation.
func (g *generator) complete(c *client) {
	e := *c.open
	invoked := e.Time
	c.open = nil
	if g.apart > 0 && e.Op != history.Write && g.chance(.06) {
		e.Kind, e.Err = history.Fail, "dial tcp: connection refused"
		g.append(e)
		return
	}
	e.Kind = history.OK
	switch e.Op {
	case history.Acquire:
		g.acquired(c, &e, invoked)
	case history.Extend:
		g.extended(c, &e, invoked)
	case history.Release:
		g.released(c, &e)
	case history.Write:
		g.written(&e)
	}
	if !g.plain && g.chance(.1) {
		e.Kind, e.Err = history.Info, "i/o timeout"
		e.ValidUntil, e.Has = 0, e.Has&history.HasBase
		if e.Op == history.Write {
			e.Seq = 0
		}
		if e.Op == history.Acquire {
			e.Fence = 0
		}
	}
	g.stamps(&e, invoked)
	g.append(e)
	switch {
	case e.Kind == history.Info:
		g.retire(c.process)
	case e.Op == history.Acquire && e.Kind == history.OK:
		until := invoked + g.h.Header.TTL - g.h.Header.Drift
		c.leases = append(c.leases, lease{e.Key, e.Fence, e.Mode, until})
	}
	if e.Op == history.Release && g.chance(.9) {
		c.drop(lease{key: e.Key, fence: e.Fence}, 1)
	}
	g.edges = append(g.edges, g.now)
}

// stamps lets some operations say themselves when they began and ended.
func (g *generator) stamps(e *history.Event, invoked time.Duration) {
	length := int((g.now - invoked) / time.Millisecond)
	if length > 0 && !g.plain && g.chance(.1) {
		e.Ended, e.Has = g.now-g.unit(g.IntN(length)), e.Has|history.HasEnded
		if g.chance(.5) {
			e.Began, e.Has = invoked+g.unit(g.IntN(int((e.Ended-invoked)/time.Millisecond)+1)), e.Has|history.HasBegan
		}
	}
}

func (g *generator) acquired(c *client, e *history.Event, invoked time.Duration) {
	s := g.state[e.Key]
	free := s.holder == "" || s.holder == c.owner || s.expires <= g.now
	if free != g.chance(g.honest) && !(free && g.chance(.8)) || g.lingers > 0 && free && g.chance(g.lingers) {
		e.Kind, e.Err = history.Fail, "lock held by another owner"
		return
	}
	again := s.holder == c.owner && s.expires > invoked && !(g.apart > 0 && g.chance(g.apart))
	if !again {
		s.fence++
	}
	s.holder, s.expires = c.owner, g.now+g.h.Header.TTL
	if g.tokens {
		e.Fence = s.fence
		if !g.chance(g.honest) {
			e.Fence = uint64(1 + g.IntN(int(s.fence)+1))
		}
	}
	g.promise(e, invoked)
}

// promise says until when a lease is good, if the lock says so.
func (g *generator) promise(e *history.Event, invoked time.Duration) {
	if g.chance(.4) {
		return
	}
	until := invoked + g.h.Header.TTL - g.h.Header.Drift
	switch g.IntN(12) {
	case 0:
		until -= g.unit(1 + g.IntN(3))
	case 1:
		until = g.now + g.unit(g.IntN(2))
	}
	e.ValidUntil, e.Has = max(until, 0), e.Has|history.HasValidUntil
	g.edges = append(g.edges, until)
}

func (g *generator) extended(c *client, e *history.Event, invoked time.Duration) {
	s := g.state[e.Key]
	holds := s.holder == c.owner && s.expires > g.now
	if holds != g.chance(g.honest) {
		e.Kind, e.Err = history.Fail, "lease lost"
		c.drop(lease{key: e.Key, fence: e.Fence}, 9)
		return
	}
	s.expires = g.now + g.h.Header.TTL
	if g.tokens && e.Fence != 0 && !g.chance(max(g.honest, .9)) {
		e.Fence++
	}
	g.promise(e, invoked)
}

// renewal is an extension that the lock made by itself.
func (g *generator) renewal(c *client) {
	l := c.leases[g.IntN(len(c.leases))]
	e := history.Event{Process: c.process, Kind: history.OK, Op: history.Extend, Key: l.key, Owner: c.owner, Mode: l.mode, Fence: g.maybe(l.fence)}
	e.Began = g.now - min(g.now, g.unit(g.IntN(3)))
	e.ValidUntil = e.Began + g.h.Header.TTL - g.h.Header.Drift
	e.Has = history.HasBegan | history.HasValidUntil
	g.edges = append(g.edges, e.ValidUntil)
	g.append(e)
}

func (g *generator) released(c *client, e *history.Event) {
	s := g.state[e.Key]
	holds := s.holder == c.owner && s.expires > g.now
	if holds != g.chance(g.honest) {
		e.Kind, e.Err = history.Fail, "lease lost"
		return
	}
	inner := 0
	for _, l := range c.leases {
		if l.key == e.Key {
			inner++
		}
	}
	if inner < 2 && !(g.kept > 0 && g.chance(g.kept)) {
		s.holder = ""
	}
}

// written lets the store judge a write, and keeps the line of its log.
func (g *generator) written(e *history.Event) {
	s := g.state[e.Key]
	if g.numbers {
		g.seq++
		e.Seq = g.seq
		if g.chance(.06) && g.seq > 1 && g.honest < 1 {
			e.Seq = 1 + g.Uint64N(g.seq)
		}
	}
	stale := g.h.Header.Fenced && e.Fence < s.seen
	if stale == g.chance(max(g.honest, .8)) {
		e.Kind, e.Err = history.Fail, "stale token"
	} else {
		s.seen, s.version = max(s.seen, e.Fence), e.Seq
	}
	if g.numbers {
		e.Has |= history.HasSeq
	}
	line := history.Event{Process: history.Store, Kind: e.Kind, Op: history.Audit, Key: e.Key, Owner: e.Owner, Value: e.Value, Seq: e.Seq, Fence: e.Fence, Has: history.HasSeq}
	if g.numbers {
		g.audits = append(g.audits, line)
	}
}

// receipts says of some unknown outcomes what a link saw of them.
func (g *generator) receipts() {
	for i := range g.h.Events {
		e := g.h.Events[i]
		if e.Kind != history.Info || e.Process < 0 || !g.chance(.3) || e.Op == history.Write {
			continue
		}
		for k := i - 1; k >= 0; k-- {
			if of := g.h.Events[k]; of.Process == e.Process && of.Kind == history.Invoke {
				says := []string{history.NeverForwarded, history.Executed}[g.IntN(2)]
				g.append(history.Event{Process: history.Link, Kind: history.OK, Op: history.Receipt, Of: k, Has: history.HasOf, Value: says})
				break
			}
		}
	}
}
