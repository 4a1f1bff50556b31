package writes

import (
	"locktorture/checker/internal/ledger"
)

// keptUpdates is how many updates, of all keys together, are kept for comparison with others
// that start from the same version.
const keptUpdates = 1 << 14

// updates finds an update by the version from which it started. Of several it keeps the first,
// or the first that its client was told was accepted.
type updates struct {
	from map[version]ledger.Update
	ring []version // in the order in which they came, once full from next on
	next int
}

type version struct {
	key *ledger.Key
	seq uint64
}

// rival finds another update that started from the same version as u.
func (s *updates) rival(k *ledger.Key, u ledger.Update) (ledger.Update, bool) {
	x, ok := s.from[version{k, u.Base}]
	return x, ok && x.Seq != u.Seq
}

// add remembers u, and forgets the oldest version when there are too many.
func (s *updates) add(k *ledger.Key, u ledger.Update) (old version, forgotten bool) {
	v := version{k, u.Base}
	if x, ok := s.from[v]; ok {
		if u.Acknowledged && !x.Acknowledged {
			s.from[v] = u
		}
		return old, false
	}
	if s.from == nil {
		s.from = make(map[version]ledger.Update)
	}
	s.from[v] = u
	if len(s.ring) < keptUpdates {
		s.ring = append(s.ring, v)
		return old, false
	}
	old = s.ring[s.next]
	delete(s.from, old)
	s.ring[s.next] = v
	s.next = (s.next + 1) % keptUpdates
	return old, true
}
