package liveness

import (
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
)

// affected is when the last of the faults in force in [from, to] ended that may explain that a
// node still stores a key, or that a waiter is not served; 0 if there is none. free is false
// while one is in force at to. A fault of certain clients counts where concerns says so. With
// no node given, every fault counts except one of the guarded store alone.
func (s *Samples) affected(node string, from, to time.Duration, concerns func(*ledger.Fault) bool) (last time.Duration, free bool) {
	n := &s.Nemesis
	reach := s.crashReach()
	keptOut := ledger.Later(s.Header.TTL, s.Header.TTL) // a node that forgot, by the lock
	if n.Unhealed == 0 && !n.Since(from-max(reach, keptOut)) && s.metBefore(from-keptOut) {
		return 0, true
	}
	if len(n.Faults) > ledger.MostFaults {
		return 0, false
	}
	for _, f := range n.Faults {
		end := f.To
		switch {
		case end == ledger.Never:
		case f.Crashes():
			end = max(end, ledger.Later(f.From, reach))
		case f.Is(ledger.NodeState):
			end = ledger.Later(max(end, s.metAt(f, to)), keptOut)
		}
		if hit := f.Affected(); f.From > to || end < from || elsewhere(hit.Nodes, node) || len(hit.Clients) > 0 && !concerns(f) {
			continue
		}
		if end > to {
			return 0, false
		}
		last = max(last, end)
	}
	return last, true
}

// meets notes that somebody asks for something at t, and meets the nodes that have come back by then.
func (s *Samples) meets(t time.Duration) {
	faults := s.Nemesis.Faults
	for ; s.heard < min(len(faults), ledger.MostFaults); s.heard++ {
		if f := faults[s.heard]; f.Is(ledger.NodeState) {
			s.unmet = append(s.unmet, f)
		}
	}
	s.unmet = slices.DeleteFunc(s.unmet, func(f *ledger.Fault) bool {
		if f.To > t {
			return false
		}
		s.met[f], s.lastMet = t, t
		return true
	})
}

// metBefore reports whether somebody has asked for something behind every fault of nodes, and before t
// the first time.
func (s *Samples) metBefore(t time.Duration) bool { return len(s.unmet) == 0 && s.lastMet < t }

// metAt is when somebody first asked for something behind a fault of nodes; to where nobody has by
// then. A lock that keeps out a node which forgot may learn of that when it asks there, and not
// before.
func (s *Samples) metAt(f *ledger.Fault, to time.Duration) time.Duration {
	if at, met := s.met[f]; met {
		return at
	}
	return to
}

// crashReach is how long what a crashed client leaves behind may stay: it outlasts its fault.
func (s *Samples) crashReach() time.Duration { return ledger.Later(s.undo(), s.kept(0)) }

// undoMayBeLost says whether a fault may have lost, or held back, what was to give back what v
// shows, for good: one behind the last look that showed something else, or shortly before. Everybody
// who may have set it was answered: where replies alone were lost, what was to give it back got through.
func (s *Samples) undoMayBeLost(v *sampledView) bool {
	n := &s.Nemesis
	if len(n.Faults) > ledger.MostFaults {
		return true
	}
	since := min(v.first.t, v.over.t) - 2*s.Header.TTL
	if v.other != ledger.Never {
		since = max(since, v.other-s.undo())
	}
	return slices.ContainsFunc(n.Faults, func(f *ledger.Fault) bool {
		hit, end := f.Affected(), f.To
		if f.Crashes() && end != ledger.Never { // what the client leaves behind outlasts that
			end = max(end, ledger.Later(f.From, s.crashReach()))
		}
		spared := elsewhere(hit.Nodes, v.node) || !v.byThose(f)
		return !f.Is(ledger.RepliesHurt) && !spared && f.From <= v.seen && end >= since
	})
}

// repliesLost is until when replies of v's node to those who may have set what it shows were lost, or
// held back: who had to connect anew meanwhile could not. Never is still.
func (s *Samples) repliesLost(v *sampledView) (until time.Duration) {
	for _, f := range s.Nemesis.Faults {
		if f.Is(ledger.RepliesHurt) && f.From <= v.seen && !elsewhere(f.Affected().Nodes, v.node) && v.byThose(f) {
			until = max(until, f.To)
		}
	}
	return until
}

// elsewhere says whether a fault of these nodes (all, where there are none) spares the node
// given, or, where none is given, every node but the guarded store's.
func elsewhere(nodes []string, node string) bool {
	if node == "" {
		return slices.Equal(nodes, []string{"store"})
	}
	return len(nodes) > 0 && !slices.Contains(nodes, node)
}

// inTheWay reports whether a fault in [from, to] may have made g's owner, or a node, lose g.
func inTheWay(e *rule.Env, g *ledger.Grant, from, to time.Duration) bool {
	return e.HitBy(g.Owner(), from, to, func(f *ledger.Fault) bool { return !elsewhere(f.Affected().Nodes, "") })
}

// delays says whether a fault affected a client that holds or asks for k.
func (s *Samples) delays(f *ledger.Fault, k *sampledKey) bool {
	hit := f.Affected()
	for owner, t := range k.tried {
		if t >= f.From-s.undo() && hit.Client(owner) {
			return true
		}
	}
	for _, a := range k.open { // whoever waits may stand in line before others
		if hit.Client(a.owner) {
			return true
		}
	}
	return false
}

// byThose says whether a fault affected a client that may have set the value that v shows, or any
// client.
func (v *sampledView) byThose(f *ledger.Fault) bool {
	hit := f.Affected()
	return len(hit.Clients) == 0 || slices.ContainsFunc(v.by, hit.Client)
}

// authors are the owners who may have set the value that a node was first seen to store at
// first, after a sample that began at before: those who had asked for k by then, or whose
// request a fault may have delayed until then.
func (s *Samples) authors(k *sampledKey, before, first time.Duration) (by []string) {
	for _, a := range k.open {
		by = append(by, a.owner)
	}
	for h := range k.leases {
		by = append(by, h.Owner)
	}
	for _, a := range k.late {
		by = append(by, a.owner)
	}
	behind := s.undo() / 4 // so long a healthy link may carry something behind the answer
	from := before - behind
	var held []*ledger.Fault
	for _, f := range s.Nemesis.Faults {
		if f.From <= first && f.To >= from && len(f.Affected().Clients) > 0 {
			held = append(held, f)
		}
	}
	for owner, t := range k.tried {
		late := func(f *ledger.Fault) bool {
			hit := f.Affected()
			return t >= f.From-behind && hit.Client(owner)
		}
		if t >= from || slices.ContainsFunc(held, late) {
			by = append(by, owner)
		}
	}
	slices.Sort(by)
	return slices.Compact(by)
}

// crashed says whether owner's client was made to crash in [from, to], or before and has not
// come back.
func (s *Samples) crashed(owner string, from, to time.Duration) bool {
	return s.HitBy(owner, from, to, (*ledger.Fault).Crashes)
}
