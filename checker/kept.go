package checker

import (
	"fmt"
	"strings"

	"locktorture/workload/history"
)

// look takes what a node stores: the released owner's value, or not.
func (l *effectless) look(e *history.Event) {
	if e.Op != history.Key || e.Kind != history.OK {
		return
	}
	k := l.j.key(e.Key)
	w := k.rel.watch
	if w == nil || e.Time > w.expiry || e.Time <= later(w.ok, l.j.h.Epsilon) {
		return
	}
	if !(sight{holder: e.Holder}).names(w.holder.owner) || !e.HasAll(history.HasPTTL) || e.PTTL <= 0 {
		delete(w.looks, e.Node)
		return
	}
	if w.looks == nil {
		w.looks = make(map[string]look)
	}
	_, seen := w.looks[e.Node]
	w.looks[strings.Clone(e.Node)] = look{e.Index, seen || e.HasAll(history.HasBegan) && e.Began > later(w.ok, l.j.h.Epsilon)}
	if l.stored(k, w) && l.quiet(w.inv) {
		k.rel.watch = nil
		w.granted = e.Time
		l.kept(w)
	}
}

// stored says whether a quorum certainly stored a released lease after its
// release, and no attempt of its owner's can have put it there.
func (l *effectless) stored(k *key, w *releaseWatch) bool {
	sure := 0
	for _, x := range w.looks {
		if x.sure {
			sure++
		}
	}
	if w.again || sure < max(l.j.h.Quorum, 1) {
		return false
	}
	for o := k.leases.head; o != nil; o = o.next {
		if o.holder == w.holder {
			return false
		}
	}
	return true
}

func (l *effectless) report(w *releaseWatch) {
	text := fmt.Sprintf("The release of %s by %s was acknowledged at %s and changed nothing: nobody held the key, and still %s, of others who asked for it before the lease's TTL ended it, at %s. %s was granted it only after that, at %s.",
		w.holder.key.name, w.holder.owner, at(w.ok), refusals(w.tries), at(w.expiry), w.next.owner, at(w.granted))
	l.violate(w, append([]int{w.nextIdx}, w.refused...), owners(w.holder.owner, w.next.owner), text)
}

func refusals(n int) string { return fmt.Sprintf("%d attempts were refused", n) }

func (l *effectless) kept(w *releaseWatch) {
	var proof []int
	for _, x := range w.looks {
		if x.sure {
			proof = append(proof, x.idx)
		}
	}
	text := fmt.Sprintf("The release of %s by %s was acknowledged at %s and changed nothing: at %s its value was still stored on %d of %d nodes, though nobody held the key.",
		w.holder.key.name, w.holder.owner, at(w.ok), at(w.granted), len(proof), l.j.h.Nodes)
	l.violate(w, proof, owners(w.holder.owner), text)
}

func (l *effectless) violate(w *releaseWatch, proof []int, owners []string, text string) {
	told := &w.holder.key.rel.told
	if len(*told) == effectlessTold {
		*told = append((*told)[:0], (*told)[1:]...)
	}
	*told = append(*told, w)
	l.j.violate(&hit{
		id: "L9", key: w.holder.key, owners: owners, witness: append(proof, w.leaseIx, w.okIdx), blame: blameLibrary,
		from: w.start, to: w.granted, text: func() string { return text }, refuted: func() bool { return w.refuted },
	})
}
