package liveness

import (
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
)

// affected is when the last fault ended that may have kept a node from losing, or a
// waiter from getting, what an attempt for k left there, of those that touch
// [from, to]; 0 for none. It is not free while one is in force at to. Without a
// node, every fault counts that is not the guarded store's alone.
func (s *Samples) affected(k *sampledKey, node string, from, to time.Duration) (last time.Duration, free bool) {
	n := &s.Nemesis
	reach := ledger.Later(s.undo(), s.kept(0)) // what a crashed client leaves behind outlasts its fault
	if n.Unhealed == 0 && !n.Since(from-reach) {
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
		case f.Is(ledger.NodeState): // the lock may keep the node out for a while
			end = ledger.Later(end, ledger.Later(s.Header.TTL, s.Header.TTL))
		}
		if f.From > to || end < from || !s.concerns(f, k, node) {
			continue
		}
		if end > to {
			return 0, false
		}
		last = max(last, end)
	}
	return last, true
}

// concerns says whether a fault may touch the node, or what a client that asked for
// k left there.
func (s *Samples) concerns(f *ledger.Fault, k *sampledKey, node string) bool {
	hit := f.Affected()
	switch {
	case node == "" && slices.Equal(hit.Nodes, []string{"store"}):
		return false
	case node != "" && len(hit.Nodes) > 0 && !slices.Contains(hit.Nodes, node):
		return false
	case len(hit.Clients) == 0:
		return true
	}
	for owner, t := range k.tried {
		if t >= f.From-s.undo() && hit.Client(owner) {
			return true
		}
	}
	if node == "" { // whoever waits may stand in line before others
		for _, a := range k.open {
			if hit.Client(a.owner) {
				return true
			}
		}
	}
	return false
}

// crashed says whether owner's client was made to crash in [from, to], or before
// and has not come back.
func (s *Samples) crashed(owner string, from, to time.Duration) bool {
	return s.HitBy(owner, from, to, (*ledger.Fault).Crashes)
}
