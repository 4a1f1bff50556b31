package liveness

import (
	"fmt"
	"strings"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// addSample notes a sample of what a node stores: the released owner's value, or not. Where a quorum
// stores nothing the release has freed the key.
func (l *Effectless) addSample(e *history.Event) {
	if e.Kind != history.OK {
		return
	}
	k := l.Key(e.Key)
	s := l.Keys.At(k.No)
	w := s.watch
	if w == nil || e.Time > w.expiry || e.Time <= ledger.Later(w.ok, l.Header.Epsilon) {
		return
	}
	if !rule.StoredFor(e.Holder, w.holder.Owner) || !e.HasAll(history.HasPTTL) || e.PTTL <= 0 {
		delete(w.looks, e.Node)
		if l.Samples.freeSince(k, ledger.Later(w.ok, l.Header.Epsilon)) {
			s.drop()
		}
		return
	}
	if w.looks == nil {
		w.looks = make(map[string]look)
	}
	_, seen := w.looks[e.Node]
	w.looks[strings.Clone(e.Node)] = look{e.Index, seen || e.HasAll(history.HasBegan) && e.Began > ledger.Later(w.ok, l.Header.Epsilon)}
	if l.stored(k, w) && l.quiet(w.inv) && l.Independence.shows(k, w.ok, e.Time) {
		s.watch = nil
		w.granted = e.Time
		l.kept(w)
	}
}

// stored says whether a quorum certainly stored a released lease after its release, and no
// attempt of its owner's can have set it there.
func (l *Effectless) stored(k *ledger.Key, w *releaseWatch) bool {
	sure := 0
	for _, x := range w.looks {
		if x.sure {
			sure++
		}
	}
	if w.again || sure < max(l.Header.Quorum, 1) {
		return false
	}
	for o := k.Open.Head; o != nil; o = o.Next {
		if o.Holder == w.holder {
			return false
		}
	}
	return true
}

func (l *Effectless) report(w *releaseWatch) {
	text := fmt.Sprintf("The release of %s by %s was acknowledged at %s and changed nothing: nobody held the key, and still %s, of others who asked for it before the lease's TTL ended it, at %s. %s was granted it only after that, at %s.",
		w.holder.Key.Name, w.holder.Owner, words.At(w.ok), refusals(w.tries), words.At(w.expiry), w.next.Owner, words.At(w.granted))
	l.violate(w, append([]int{w.nextIdx}, w.refused...), words.Owners(w.holder.Owner, w.next.Owner), text)
}

func refusals(n int) string { return fmt.Sprintf("%d attempts were refused", n) }

func (l *Effectless) kept(w *releaseWatch) {
	var proof []int
	for _, x := range w.looks {
		if x.sure {
			proof = append(proof, x.idx)
		}
	}
	text := fmt.Sprintf("The release of %s by %s was acknowledged at %s and changed nothing: at %s its value was still stored on %d of %d nodes, though nobody held the key.",
		w.holder.Key.Name, w.holder.Owner, words.At(w.ok), words.At(w.granted), len(proof), l.Header.Nodes)
	l.violate(w, proof, words.Owners(w.holder.Owner), text)
}

func (l *Effectless) violate(w *releaseWatch, proof []int, owners []string, text string) {
	told := &l.Keys.At(w.holder.Key.No).Reported
	if len(*told) == EffectlessReported {
		*told = append((*told)[:0], (*told)[1:]...)
	}
	*told = append(*told, w)
	l.Violate(&rule.Candidate{
		ID: "L9", Key: w.holder.Key, Owners: owners, Witness: append(proof, w.leaseIx, w.okIdx), Blame: rule.BlameLibrary,
		From: w.start, To: w.granted, Text: func() string { return text }, Refuted: func() bool { return w.refuted },
	})
}
