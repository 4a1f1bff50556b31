package liveness

import (
	"fmt"
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// A lifetime is the time through which a node stored one text, however often its expiry
// was moved meanwhile.
type lifetime struct {
	first moment        // it was seen there
	upTo  int           // acquires that had been asked for by then: one of them set it
	by    []string      // owners who may have
	over  moment        // when the last of those was over
	rose  time.Duration // a look found the expiry moved, for the first time, since this one; 0 is no such look
	rises int           // how often that was after all of those were over
	found *lasting      // L8
}

// recurrences are how many texts may come back after they had gone before no text is taken
// for a name of one lease alone. A request that is executed twice brings one back.
const recurrences = 2

// comes notes that a text is seen where it was not.
func (s *Samples) comes(k *sampledKey, v *sampledView) {
	if v.was == v.text {
		s.reused++
	}
	v.life = lifetime{first: v.first, upTo: v.upTo, by: v.by, over: v.over}
}

// revived reports L8 when the expiry of what a node stores moves on again and again, though
// everybody who may have set it was refused or has given it back: somebody renews a lock
// that nobody holds. It will never be free.
func (s *Samples) revived(key *ledger.Key, k *sampledKey, v *sampledView, e *history.Event) {
	l := &v.life
	rose := l.rose
	l.rose = 0
	bound := s.undo() + s.Header.Epsilon
	if rose == 0 || k.blind || l.upTo == 0 || k.newest > l.upTo || k.owned(l.upTo) || rose-l.over.t <= bound {
		return
	}
	for _, a := range k.kept { // its library may renew it in silence
		if a.number <= l.upTo {
			return
		}
	}
	hurt, free := s.affected(v.node, l.over.t, rose, func(f *ledger.Fault) bool { return slices.ContainsFunc(l.by, f.Affected().Client) })
	if !free || rose-hurt <= bound {
		return
	}
	if l.rises++; l.rises < 2 {
		return
	}
	now := moment{e.Time, e.Index}
	if l.found == nil {
		l.found = s.renewed(key, v, now)
		s.Violate(l.found.Candidate)
	}
	l.found.grow(now, rose-max(l.over.t, hurt)-bound)
}

func (s *Samples) renewed(key *ledger.Key, v *sampledView, now moment) *lasting {
	o := &lasting{now: now}
	first, over, node, text := v.life.first, v.life.over, v.node, v.text
	o.Candidate = &rule.Candidate{
		ID: "L8", Key: key, Witness: []int{first.idx, now.idx}, Blame: rule.BlameLibrary, From: over.t,
		Refuted: func() bool { return s.reused >= recurrences },
		Remedy:  "stop what renews a lease before it is given back, whatever becomes of the release.",
		Text: func() string {
			return fmt.Sprintf("Node %s stored %q for %s from %s on. Whoever had asked before that was refused or had given the lease back by %s, nobody was granted the key since, "+
				"and yet its expiry was moved on again and again, until %s at least: somebody renews a lock that nobody holds.",
				node, text, key.Name, words.At(first.t), words.At(over.t), words.At(o.now.t))
		},
	}
	if over.idx != rule.NoWitness {
		o.Witness = append(o.Witness, over.idx)
	}
	return o
}
