package checker

import (
	"slices"
	"strings"
	"time"
)

// struckAt is whom a fault hit, by name. Both empty is everybody.
type struckAt struct{ clients, nodes []string }

// mostFaults is how many faults samples looks through; of a history with more, it
// judges what no fault touches.
const mostFaults = 4096

// struck is when the last fault ended that may have kept a node from losing, or a
// waiter from getting, what an attempt for k left there, of those that touch
// [from, to]; 0 for none. It is not free while one is in force at to. Without a
// node, every fault counts that is not the guarded store's alone.
func (s *samples) struck(k *sampledKey, node string, from, to time.Duration) (last time.Duration, free bool) {
	n := &s.j.nemesis
	reach := later(s.undo(), s.kept(0)) // what a crashed client leaves behind outlasts its fault
	if n.unhealed == 0 && !n.since(from-reach) {
		return 0, true
	}
	if len(n.faults) > mostFaults {
		return 0, false
	}
	for _, f := range n.faults {
		end := f.to
		switch {
		case end == never:
		case f.crash():
			end = max(end, later(f.from, reach))
		case f.is(nodeState): // the lock may keep the node out for a while
			end = later(end, later(s.j.h.TTL, s.j.h.TTL))
		}
		if f.from > to || end < from || !s.concerns(f, k, node) {
			continue
		}
		if end > to {
			return 0, false
		}
		last = max(last, end)
	}
	return last, true
}

func (f *fault) crash() bool { return strings.Contains(f.name, "crash") }

// concerns says whether a fault may touch the node, or what a client that asked for
// k left there.
func (s *samples) concerns(f *fault, k *sampledKey, node string) bool {
	hit := f.struck()
	switch {
	case node == "" && slices.Equal(hit.nodes, []string{"store"}):
		return false
	case node != "" && len(hit.nodes) > 0 && !slices.Contains(hit.nodes, node):
		return false
	case len(hit.clients) == 0:
		return true
	}
	for owner, t := range k.tried {
		if t >= f.from-s.undo() && hit.client(owner) {
			return true
		}
	}
	if node == "" { // whoever waits may stand in line before others
		for _, a := range k.open {
			if hit.client(a.owner) {
				return true
			}
		}
	}
	return false
}

// belongs says whether an owner is this client, in one of its lives.
func belongs(owner, client string) bool {
	rest, ok := strings.CutPrefix(owner, client)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "#/.:-~@"))
}

// crashed says whether owner's client was made to crash in [from, to], or before
// and has not come back.
func (s *samples) crashed(owner string, from, to time.Duration) bool {
	return s.j.hitBy(owner, from, to, (*fault).crash)
}

// stoodStill says whether owner's client was kept from being told anything at any
// time in [from, to].
func (j *Judge) stoodStill(owner string, from, to time.Duration) bool {
	return j.nemesis.marks[stopped].touch(from, to) && j.hitBy(owner, from, to, func(f *fault) bool { return f.is(stopped) })
}

// hitBy says whether a fault of some kind may have hit owner's client in [from, to].
func (j *Judge) hitBy(owner string, from, to time.Duration, kind func(*fault) bool) bool {
	n := &j.nemesis
	if len(n.faults) > mostFaults {
		return true
	}
	for f := range n.touching(from, to) {
		if kind(f) && f.struck().client(owner) {
			return true
		}
	}
	return false
}

// struck is whom f hit.
func (f *fault) struck() struckAt {
	switch t := f.target; {
	case t == nil:
		return struckAt{}
	case t.Name() != "":
		return struckAt{clients: []string{t.Name()}}
	default:
		return struckAt{t.Clients, t.Nodes}
	}
}

// client says whether it may have hit owner's client.
func (h struckAt) client(owner string) bool {
	return len(h.clients) == 0 || slices.ContainsFunc(h.clients, func(c string) bool { return belongs(owner, c) })
}
