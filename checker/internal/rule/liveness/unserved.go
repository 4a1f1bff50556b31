package liveness

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// wakeWithin is how long a waiter may wait for a free key: as declared, or as long as any key
// may stay without a grant.
func (s *Samples) wakeWithin() time.Duration {
	return time.Duration(s.Bound(history.BoundWake, int64(idleBound(s.Env))))
}

// wokenWithin is how long a client may wait that was waiting before at, when the last lease of
// k was released and nodes were soon free of it: a release wakes those who wait, within the
// declared bound.
func (s *Samples) wokenWithin(k *sampledKey, at, free time.Duration) time.Duration {
	woken, declared := s.Header.Bounds[history.BoundWoken]
	if bound := time.Duration(woken); declared && at < k.given.asked && free-k.given.answered <= bound/2 {
		return min(bound, s.wakeWithin())
	}
	return s.wakeWithin()
}

// unserved reports L2 when somebody waits for a key that a quorum does not store.
func (s *Samples) unserved(key *ledger.Key, k *sampledKey, e *history.Event) {
	if k.blind || len(k.waits) == 0 || len(k.leases) > 0 || k.gaveUp > 0 {
		return
	}
	first := slices.MinFunc(slices.Collect(maps.Values(k.waits)), func(a, b moment) int { return cmp.Compare(a.idx, b.idx) })
	free, seen := s.freeAtQuorum(k)
	bound, from := s.wokenWithin(k, first.t, free), max(first.t, free, k.gone)
	hurt, quiet := s.affected("", first.t-bound, e.Time, func(f *ledger.Fault) bool { return s.delays(f, k) })
	if hurt > 0 { // what would have woken it may be lost: it has to look again by itself, as anybody would
		bound, from = max(bound, idleBound(s.Env)), max(from, hurt)
	}
	if !quiet || seen-from <= ledger.Later(bound, s.Header.Epsilon) {
		return
	}
	if k.stuck == nil || k.stuck.idx != first.idx {
		k.stuck = s.waits(key, first, from, moment{seen, e.Index}, bound)
		s.Violate(k.stuck.Candidate)
	}
	k.stuck.grow(moment{seen, e.Index}, seen-from-bound)
}

func (s *Samples) waits(key *ledger.Key, first moment, from time.Duration, now moment, bound time.Duration) *lasting {
	o := &lasting{idx: first.idx, now: now}
	o.Candidate = &rule.Candidate{
		ID: "L2", Key: key, Witness: []int{first.idx, now.idx}, Blame: rule.BlameProgress, From: from,
		Remedy: "wake the first waiter in the step that frees the key, and let waiters ask again by themselves.",
		Text: func() string {
			return fmt.Sprintf("From %s on a quorum of the nodes did not store %s and nobody held it. Somebody had waited for it since %s, no fault was in the way, and yet nobody was granted it until %s, "+
				"for longer than the %s within which a waiter is to be served.",
				words.At(from), key.Name, words.At(first.t), words.At(o.now.t), words.Span(bound))
		},
	}
	return o
}

// A freedom is an interval in which samples show that a node does not store a key.
type freedom struct {
	since, seen time.Duration
	stored      bool // it was seen to store it once
}

// freeAtQuorum is since when a quorum of nodes has not stored k under any name, and until when
// samples show that; both are Never where a quorum stores it.
func (s *Samples) freeAtQuorum(k *sampledKey) (since, seen time.Duration) {
	return s.freeAt(k, func(freedom) bool { return true })
}

// freeAt is freeAtQuorum, of those nodes alone that count.
func (s *Samples) freeAt(k *sampledKey, counts func(freedom) bool) (since, seen time.Duration) {
	var free []freedom
	for _, f := range k.freedoms() {
		if f.since != ledger.Never && counts(f) {
			free = append(free, f)
		}
	}
	quorum := max(s.Header.Quorum, 1)
	if len(free) < quorum {
		return ledger.Never, ledger.Never
	}
	slices.SortFunc(free, func(a, b freedom) int { return cmp.Compare(b.seen, a.seen) })
	seen = free[quorum-1].seen
	free = slices.DeleteFunc(free, func(f freedom) bool { return f.seen < seen })
	slices.SortFunc(free, func(a, b freedom) int { return cmp.Compare(a.since, b.since) })
	return free[quorum-1].since, seen
}

// freeSince reports whether looks behind t show that a quorum of nodes does not store k, each of which
// was seen to store it earlier: a lock may keep a key on some nodes alone, or under other names.
func (s *Samples) freeSince(key *ledger.Key, t time.Duration) bool {
	k := s.keys[key]
	if k == nil {
		return false
	}
	since, seen := s.freeAt(k, func(f freedom) bool { return f.stored })
	return since != ledger.Never && seen > t
}

// freedoms are the freedoms of the nodes of which all names were sampled; since is Never where
// a node stores one of them.
func (k *sampledKey) freedoms() map[string]freedom {
	all, asked := map[string]freedom{}, map[string]int{}
	for _, v := range k.views {
		f, known := all[v.node]
		if !known {
			f.seen = ledger.Never
		}
		f.seen = min(f.seen, v.seen)
		if v.there {
			f.since = ledger.Never
		}
		f.since, f.stored = max(f.since, v.free), f.stored || v.shown
		all[v.node] = f
		asked[v.node]++
	}
	for node, n := range asked {
		if n < len(k.names) {
			delete(all, node)
		}
	}
	return all
}
