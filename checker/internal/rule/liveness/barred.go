package liveness

import (
	"fmt"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// inVain are consecutive refused attempts, none long after the one before it.
type inVain struct {
	first moment        // when the first of them began
	last  moment        // when the last one that began was answered
	begun time.Duration // and when it began
	n     int
	taken time.Duration // until when those of unknown outcome among them may have had the key
}

// refuses notes a refused attempt. One that asked for other keys too proves nothing about this
// one.
func (s *Samples) refuses(k *sampledKey, f *ledger.Fact) {
	v, o := &k.vain, f.Op
	if o.Several {
		return
	}
	if v.n == 0 || o.Inv > ledger.Later(v.last.t, patience(s.Env)) {
		v.first, v.n = moment{o.Inv, o.InvIdx}, 0
	}
	if v.n++; o.Inv >= v.begun {
		v.begun, v.last = o.Inv, moment{f.Event.Time, f.Event.Index}
	}
}

// bars reports L2 when attempts have been refused for long, by whatever clients, although
// nobody held the key and a quorum did not store it: no lease explains that. It needs no client
// that waits inside the lock.
func (s *Samples) bars(key *ledger.Key, k *sampledKey, e *history.Event) {
	v := &k.vain
	if k.blind || v.n < orphanTries || len(k.leases) > 0 {
		return
	}
	bound := s.wakeWithin()
	free, seen := s.freeAtQuorum(k)
	from := max(v.first.t, free, k.gone, v.taken)
	short := func() bool { return min(seen, v.begun)-from <= bound+s.Header.Epsilon }
	if free == ledger.Never || bound == ledger.Never || short() {
		return
	}
	healed, quiet := s.affected("", v.first.t, e.Time, func(f *ledger.Fault) bool { return s.delays(f, k) })
	if from = max(from, healed); !quiet || short() {
		return
	}
	if k.barred == nil {
		o := &lasting{idx: v.first.idx, now: v.last}
		o.Candidate = &rule.Candidate{
			ID: "L2", Key: key, Witness: []int{o.idx, o.now.idx}, Blame: rule.BlameProgress, From: from,
			Text: func() string {
				return fmt.Sprintf("From %s on a quorum of the nodes did not store %s, nobody held it, and no fault was in the way; and yet whoever asked for it was refused until %s, for longer than %s. "+
					"Something other than a lease keeps everybody out. Remedy: let the place in line of whoever is no more, and whatever else bars the key, end by itself.",
					words.At(from), key.Name, words.At(o.now.t), words.Span(bound))
			},
		}
		k.barred = o
		s.Violate(o.Candidate)
	}
	k.barred.grow(v.last, v.begun-from-bound)
}
