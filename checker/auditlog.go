package checker

import (
	"fmt"

	"locktorture/workload/history"
)

// auditLog decides S3 once more, over the store's own log: for sections in
// which a write is of unknown outcome to its client. The log must be whole and
// in seq order. A section is an owner's writes under one token; without tokens
// two sections of one owner look like one, so that nothing is proved. A line that
// nobody asked for (R2) is nobody's write.
type auditLog struct {
	j     *Judge
	books *bookkeeping
	last  map[string]section // the last write of each key in the log
}

// A section is a critical section as the log shows it.
type section struct {
	owner   string
	fence   uint64
	mark    mark
	unknown bool // its last write was of unknown outcome
	mode    history.Mode
	set     bool
}

func (*auditLog) ids() []string { return []string{"S3"} }
func (*auditLog) wants() []what { return []what{audited} }
func (*auditLog) finish()       {}

func (a *auditLog) see(f *fact) {
	e := f.e
	if e.Kind != history.OK || e.Key == "" || e.Owner == "" {
		return
	}
	if a.last == nil {
		a.last = make(map[string]section)
	}
	k := a.j.key(e.Key)
	h := a.j.holderOf(k, a.j.owner(e.Owner))
	own, other := &h.more().audit, a.last[k.name]
	me := section{h.owner, e.Fence, mark{e.Seq, e.Index}, f.op != nil, e.Mode, true}
	unknown := own.unknown || other.unknown || me.unknown
	if unknown && own.set && own.fence == me.fence && other.set && a.j.test.between(other.mark.seq, own.mark.seq) && a.j.test.between(me.mark.seq, other.mark.seq) &&
		(me.mode == history.Exclusive || other.mode == history.Exclusive) {
		a.interleaved(k, *own, other, me)
	}
	*own, a.last[k.name] = me, me
}

func (a *auditLog) interleaved(k *key, first, other, second section) {
	text := fmt.Sprintf("The store's log shows writes number %d and %d to %s by %s%s, and between them number %d by %s; of one of them its own client never heard what became. "+
		"The critical section of %s was not its own.",
		first.mark.seq, second.mark.seq, k.name, first.owner, token(first.fence), other.mark.seq, other.owner, first.owner)
	h := &hit{
		id: "S3", key: k, owners: owners(first.owner, other.owner), witness: []int{first.mark.idx, other.mark.idx, second.mark.idx},
		blame: blameClient, from: a.j.now, to: a.j.now, text: func() string { return text },
		refuted: func() bool { return a.books.anyUnasked(first.mark.idx, other.mark.idx, second.mark.idx) },
	}
	if first.fence != 0 {
		a.j.violate(h)
	} else if !a.j.suspicious.full("S3") {
		a.j.suspect(h)
	}
}
