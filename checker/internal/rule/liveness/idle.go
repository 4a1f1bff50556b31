package liveness

import (
	"regexp"
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/workload/history"
)

// Idle are texts that nodes store for good under the name of a key although it is free, as a lock
// that keeps a row for each resource does: they are no leases. What proves it of a text is that
// somebody is granted the key while it is there.
type Idle struct {
	proofs map[string]int // by the texts' shape: grants
}

// A proof is that of one grant, for the texts of one shape. It is void once a node turns out to
// store nothing any more: what it stored was removed, maybe before the grant.
type proof struct {
	shape string
	void  bool
}

// changing are the parts of a text that differ from one lease to the next: words with digits.
var changing = regexp.MustCompile(`[0-9A-Za-z]*[0-9][0-9A-Za-z]*`)

func shape(text string) string { return changing.ReplaceAllLiteralString(text, "#") }

// proves counts a proof for the texts of one shape.
func (i *Idle) proves(shape string) *proof {
	if i.proofs == nil {
		i.proofs = map[string]int{}
	}
	i.proofs[shape]++
	return &proof{shape: shape}
}

// withdraws takes a proof back.
func (i *Idle) withdraws(p *proof) {
	if !p.void {
		p.void = true
		i.proofs[p.shape]--
	}
}

// Has says whether texts of this shape that are to stay for longer than any lease are no leases.
// One proof is none: a lease that was left behind may have been removed just before the key was
// granted.
func (i *Idle) Has(text string) bool { return i.proofs[shape(text)] >= recurrences }

// A start is how an acquire found its key.
type start struct {
	alone bool          // nobody else was asking for it
	free  bool          // nobody held it, or had left a lease there: the last one had been given back, and was said to be gone
	since time.Duration // and nobody had asked for anything, or been answered, since
}

func (k *sampledKey) start() start {
	free := len(k.leases) == 0 && len(k.kept) == 0 && len(k.late) == 0 && k.given != (returned{})
	return start{len(k.open) == 0, free, k.last}
}

// ignores notes what a grant proves of texts that are to stay for longer than any lease, and that nobody owned any
// more, or that had been left behind: an acquire that was alone met those that were there at the last look, and cannot have
// been granted on a quorum without a node that stored one.
func (s *Samples) ignores(k *sampledKey, a author, f *ledger.Fact) {
	o := f.Op
	if f.Kind != ledger.Granted || o.Mode != history.Exclusive || o.Several || !a.start.alone || a.number != k.asked {
		return
	}
	met := map[string][]*sampledView{} // by node
	for _, v := range k.views {
		if v.left == nil && !(a.start.free && v.there) || v.seen <= ledger.Later(a.start.since, s.Header.Epsilon) || !stays(s.Env, f.Event.Time, v.lo) || slices.Contains(v.by, o.Holder.Owner) {
			continue
		}
		if hurt, free := s.affected(v.node, v.seen, f.Event.Time, v.byThose); free && hurt == 0 {
			met[v.node] = append(met[v.node], v)
		}
	}
	if len(met) < s.Header.Nodes-max(1, s.Header.Quorum)+1 {
		return
	}
	proofs := map[string]*proof{} // by shape: what several nodes store is one proof
	for _, views := range met {
		for _, v := range views {
			x := shape(v.text)
			if proofs[x] == nil {
				proofs[x] = s.Idle.proves(x)
			}
			v.proof, v.proved = proofs[x], f.Event.Time
			if v.left != nil {
				v.left.idle = v.proof
			}
		}
	}
}

// stays says whether what was seen at t is stored for longer than any lease, when it expires at lo
// at the earliest.
func stays(e *rule.Env, t, lo time.Duration) bool { return lo > ledger.Later(t, ample(e)) }

// reviews looks at what a node stores behind a grant that was a proof: a text for good proves it
// for good, none at all refutes it, and anything else may be that lease's.
func (s *Samples) reviews(v *sampledView, e *history.Event, lo time.Duration) {
	switch {
	case v.proof == nil: // nothing to review
	case e.PTTL < rule.WithoutExpiry:
		if hurt, free := s.affected(v.node, v.proved, e.Time, v.byThose); free && hurt == 0 {
			s.Idle.withdraws(v.proof)
		}
	case !stays(s.Env, e.Time, lo):
		return
	}
	v.proof = nil
}
