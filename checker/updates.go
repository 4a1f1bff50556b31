package checker

// keptUpdates is how many updates are remembered, of all keys together, for
// another one that starts from the same version.
const keptUpdates = 1 << 14

// updates finds an update by the version that it started from. Of those from one
// version it keeps the first, or the first that its client was told of.
type updates struct {
	from map[version]update
	ring []version // in the order in which they came, once full from next on
	next int
}

type version struct {
	key *key
	seq uint64
}

// rival finds another update that started from the same version as u.
func (s *updates) rival(k *key, u update) (update, bool) {
	x, ok := s.from[version{k, u.base}]
	return x, ok && x.seq != u.seq
}

// add remembers u, and forgets the oldest version when there are too many. Its
// key remembers how new that was.
func (s *updates) add(k *key, u update) {
	v := version{k, u.base}
	if x, ok := s.from[v]; ok {
		if u.told && !x.told {
			s.from[v] = u
		}
		return
	}
	if s.from == nil {
		s.from = make(map[version]update)
	}
	s.from[v] = u
	if len(s.ring) < keptUpdates {
		s.ring = append(s.ring, v)
		return
	}
	old := s.ring[s.next]
	old.key.sec.dropped = max(old.key.sec.dropped, old.seq+1)
	delete(s.from, old)
	s.ring[s.next] = v
	s.next = (s.next + 1) % keptUpdates
}
