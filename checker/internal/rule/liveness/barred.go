package liveness

import (
	"fmt"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// inVain are consecutive attempts that were refused, or of unknown outcome, none long after the
// one before it.
type inVain struct {
	first moment        // when the first of them began
	last  moment        // when the last one that began was answered
	begun time.Duration // and when it began
	n     int
	erred int           // of them, those of unknown outcome
	err   string        // what the last of those was told
	taken time.Duration // until when the first of unknown outcome among them may have kept others out
}

// refuses notes an attempt that was not granted. One that asked for other keys too proves nothing
// about this one.
func (s *Samples) refuses(k *sampledKey, f *ledger.Fact) {
	v, o := &k.vain, f.Op
	if o.Several {
		return
	}
	if v.n == 0 || o.Inv > ledger.Later(v.last.t, patience(s.Env)) {
		*v = inVain{first: moment{o.Inv, o.InvIdx}}
	}
	if f.Kind == ledger.Unknown {
		v.erred, v.err = v.erred+1, f.Event.Err
	}
	if v.n++; o.Inv >= v.begun {
		v.begun, v.last = o.Inv, moment{f.Event.Time, f.Event.Index}
	}
}

// mayKeep notes that an attempt of unknown outcome may keep others out until then, though no
// node is seen to store the key. Of those that follow only the nodes are asked: a lock whose
// every answer is an error would have no end of excuses.
func (v *inVain) mayKeep(until time.Duration) {
	if v.taken == 0 {
		v.taken = until
	}
}

// why says what may keep everybody out, and what helps.
func (v *inVain) why() (why, remedy string) {
	if v.erred == 0 {
		return "Something other than a lease keeps everybody out.", "let the place in line of whoever is no more, and whatever else bars the key, end by itself."
	}
	said := ""
	if v.err != "" {
		said = fmt.Sprintf(", the last of them %q", v.err)
	}
	return fmt.Sprintf("%s of %s attempts ended in an error%s.", words.Thousands(v.erred), words.Thousands(v.n), said),
		"let the lock get over what it was told, as soon as the servers are healthy again."
}

// bars reports L2 when attempts have been refused for long, by whatever clients, or given up as
// of unknown outcome, although nobody held the key and a quorum did not store it: no lease explains
// that. It needs no client that waits inside the lock.
func (s *Samples) bars(key *ledger.Key, k *sampledKey, e *history.Event) {
	v := &k.vain
	if k.blind || v.n < orphanTries || len(k.leases) > 0 {
		return
	}
	bound := s.wakeWithin()
	free, seen := s.freeAtQuorum(k)
	healed, quiet := s.affected("", v.first.t, e.Time, func(f *ledger.Fault) bool { return s.delays(f, k) })
	from := max(v.first.t, free, k.gone, v.taken, healed)
	if !quiet || min(seen, v.begun)-from <= ledger.Later(bound, s.Header.Epsilon) {
		return
	}
	if k.barred == nil {
		o := &lasting{idx: v.first.idx, now: v.last}
		o.Candidate = &rule.Candidate{
			ID: "L2", Key: key, Witness: []int{o.idx, o.now.idx}, Blame: rule.BlameProgress, From: from,
			Text: func() string {
				return fmt.Sprintf("From %s on a quorum of the nodes did not store %s, nobody held it, and no fault was in the way; and yet nobody who asked for it got it until %s, for longer than %s. %s",
					words.At(o.From), key.Name, words.At(o.now.t), words.Span(bound), o.why)
			},
		}
		k.barred = o
		s.Violate(o.Candidate)
	}
	o := k.barred
	o.why, o.Remedy = v.why()
	// It rests on the time by which the bound was exceeded most: it may last for a whole run, of which
	// stops elsewhere explain nothing.
	if margin := min(seen, v.begun) - from - bound; margin > o.Margin {
		o.From, o.To, o.now, o.Margin = from, v.last.t, v.last, margin
	}
}
