package reference

import (
	"strings"

	"locktorture/workload/history"
)

// effectlessTries is how many refusals show a key taken.
const effectlessTries = 3

// effectless decides L9, over releases, the leases that they may be of, and what
// shows that the key stayed taken.
func (j *judge) effectless() {
	for _, o := range j.ops {
		if o.Op != history.Release || o.Kind != history.OK {
			continue
		}
		for _, g := range j.of(o.Key, o.Owner) {
			if g.to.index > o.to.index {
				continue
			}
			j.stored(o, g)
			for _, next := range j.grants {
				if next.Key == o.Key && next.to.index > o.to.index {
					j.judgeIneffective(o, g, next)
				}
			}
		}
	}
}

// stored claims L9 as open where a node was seen to store the owner's value after the release.
func (j *judge) stored(o *operation, g *grant) {
	for i := range j.history.Events {
		e := &j.history.Events[i]
		if e.Op == history.Key && e.Key == o.Key && e.Index > o.from.index && strings.HasPrefix(e.Holder, o.Owner) {
			j.claim("L9", Open, o.Key, g.events(), o.events(), []int{i})
		}
	}
}

// judgeIneffective claims L9 where attempts were refused until the TTL of the released lease g
// ended, and next was granted after that.
func (j *judge) judgeIneffective(o *operation, g, next *grant) {
	expiry := g.from.time + max(j.history.Header.TTL, g.first-g.from.time+j.history.Header.Drift)
	sure, perhaps := 0, 0
	for _, x := range j.ops {
		if x.Op != history.Acquire || x.Kind != history.Fail || x.several || x.Key != o.Key || x.Owner == o.Owner || x.from.index < o.from.index || x.to.index > next.to.index {
			continue
		}
		if !j.heldThrough(x) && x.to.time <= g.server+j.history.Header.Epsilon {
			perhaps++
		}
		if j.surely(o.to, x.from) && x.to.time+j.between(g, x) <= expiry && x.Mode == history.Exclusive {
			sure++
		}
	}
	proved := sure >= effectlessTries && next.from.time-expiry >= j.between(g, next.operation) && j.surely(g.to, o.from) &&
		expiry-o.to.time > j.between(g, o) && j.nothingElse(o, g, next) && !j.outlasted(g, next)
	j.claim("L9", answer(proved, perhaps >= effectlessTries && !j.vagueBefore(o, g, next)), o.Key, g.events(), o.events(), next.events())
}

// heldThrough reports whether somebody surely held the key all through a refusal.
func (j *judge) heldThrough(x *operation) bool {
	for _, h := range j.grants {
		for _, s := range h.definite() {
			if h.Key == x.Key && h.Owner != x.Owner && x.from.time-s.from > j.history.Header.Epsilon && s.to-x.to.time > j.history.Header.Epsilon {
				return true
			}
		}
	}
	return false
}

// outlasted reports whether somebody was refused when the servers may have ended g, before next was
// asked for.
func (j *judge) outlasted(g, next *grant) bool {
	for _, x := range j.ops {
		if x.Op == history.Acquire && x.Kind == history.Fail && x.Key == g.Key && x.to.time > g.server && x.to.index < next.to.index {
			return true
		}
	}
	return false
}

// vagueBefore reports whether something of unknown outcome may have kept the key
// taken at the time: a request may be carried out late, and its lease lasts a TTL.
// A release can only have left a hold behind for o to be an inner one, not after it.
func (j *judge) vagueBefore(o *operation, g, next *grant) bool {
	for _, x := range j.ops {
		lease := x.Op == history.Acquire || x.Op == history.Extend || x.Op == history.Release && x.from.index < o.to.index
		unknown := x.Kind == history.Info && x.from.index < next.to.index && (x.to.index > next.to.index || x.to.time+2*j.history.Header.TTL >= g.from.time)
		if lease && x.Key == o.Key && unknown {
			return true
		}
	}
	return false
}

// nothingElse reports whether surely nothing but the released lease can have kept the key: no
// fault, nothing unknown, unanswered, shared, extended or lost, and no other lease that the
// servers may still keep.
func (j *judge) nothingElse(o *operation, g, next *grant) bool {
	for i := range j.history.Events {
		if e := &j.history.Events[i]; e.Op == history.Fault || e.Op == history.Heal || e.Op == history.Receipt || e.Op == history.Stall {
			return false
		}
	}
	for _, x := range j.ops {
		if x.Key != o.Key || x.from.index > next.to.index && x.Op != history.Extend {
			continue
		}
		across := x.from.index < o.to.index && x.to.index > o.from.index || x.from.index < next.to.index && x.to.index > next.to.index
		switch {
		case x.Op == history.Extend, x.Op == history.Lost, x.Mode == history.Shared:
			return false
		case x.Kind == history.Info && x.Op != history.Write, x.perhapsUnsent, x.HasAll(history.HasBegan), x.HasAll(history.HasEnded):
			return false
		case x.several, x.Op == history.Acquire && across, x.Op == history.Release && x != o && x.to.index > g.from.index:
			return false
		}
	}
	return j.alone(g, next) && j.history.Header.Quorum <= 1
}

// alone reports whether the leases before g were given back and are over on the
// servers, and none was granted between g and next.
func (j *judge) alone(g, next *grant) bool {
	slack := j.history.Header.Epsilon + j.history.Header.Drift
	for _, h := range j.grants {
		switch {
		case h.Key != g.Key || h == g || h.to.index >= next.to.index:
		case h.to.index > g.to.index, h.server+slack >= g.from.time, !j.givenBack(h):
			return false
		}
	}
	return true
}

func (j *judge) givenBack(h *grant) bool {
	for _, x := range j.ops {
		if x.Op == history.Release && x.Kind == history.OK && x.Key == h.Key && x.Owner == h.Owner && j.surely(h.to, x.from) {
			return true
		}
	}
	return false
}

// GenerateEffectless draws the history of a seed in which few owners contend for one
// key, and some releases are acknowledged and change nothing. In half of them no
// outcome is unknown, and owners leave it to others to find the key still taken:
// only then is anything proved. In some a key is refused now and then though nobody holds it.
func GenerateEffectless(seed uint64) history.History {
	g := newGenerator(seed, 9)
	g.header(seed)
	g.ops, g.honest, g.kept = 12+g.IntN(19), 1, .6
	g.plain = g.chance(.5)
	if g.chance(.3) {
		g.lingers = .3
	}
	g.keys, g.state["k1"] = []string{"k1"}, &resource{}
	for i := range 3 + g.IntN(2) {
		g.clients = append(g.clients, &client{owner: string(rune('a' + i)), process: i})
	}
	g.next = len(g.clients)
	for g.ops > 0 {
		g.contend()
	}
	g.finish()
	return g.h
}

// contend lets one client ask for the key, or give it back.
func (g *generator) contend() {
	if g.chance(.6) {
		g.now += g.unit(1)
	}
	c := g.clients[g.IntN(len(g.clients))]
	switch {
	case c.open != nil:
		g.complete(c)
	case g.plain && len(c.leases) == 0 && g.state["k1"].holder == c.owner:
	case g.chance(.005):
		g.kill()
	case len(c.leases) > 0 && !g.plain && g.chance(.04):
		g.renewal(c)
	default:
		g.ops--
		e := history.Event{Process: c.process, Kind: history.Invoke, Op: history.Acquire, Owner: c.owner, Key: "k1"}
		if len(c.leases) > 0 && g.chance(.85) {
			e.Op = history.Release
		}
		g.append(e)
		e.Time, c.open = g.now, &e
	}
}
