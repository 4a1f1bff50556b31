package writes

import (
	"fmt"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// auditLog decides S3 once more, over the store's own log: for sections in
// which a write is of unknown outcome to its client. The log must be whole and
// in seq order. A section is an owner's writes under one token; without tokens
// two sections of one owner look like one, so that nothing is proved. A line that
// nobody asked for (R2) is nobody's write.
type auditLog struct {
	j       *rule.Env
	unasked func(lines ...int) bool // whether nobody asked for one of these
	last    rule.Table[section]     // the last write of each key in the log …
	own     rule.Table[section]     // … and of each holder
}

// A section is a critical section as the log shows it.
type section struct {
	owner   string
	fence   uint64
	mark    ledger.Mark
	unknown bool // its last write was of unknown outcome
	mode    history.Mode
	set     bool
}

func (a *auditLog) Observe(f *ledger.Fact) {
	e := f.Event
	if e.Kind != history.OK || e.Key == "" || e.Owner == "" {
		return
	}
	k := a.j.Key(e.Key)
	h := a.j.HolderOf(k, a.j.Owner(e.Owner))
	own, last := a.own.At(h.ID), a.last.At(k.No)
	other := *last
	me := section{h.Owner, e.Fence, ledger.Mark{Seq: e.Seq, Idx: e.Index}, f.Op != nil, e.Mode, true}
	unknown := own.unknown || other.unknown || me.unknown
	if unknown && own.set && own.fence == me.fence && other.set && other.mark.Seq > own.mark.Seq && me.mark.Seq > other.mark.Seq &&
		(me.mode == history.Exclusive || other.mode == history.Exclusive) {
		a.interleaved(k, *own, other, me)
	}
	*own, *last = me, me
}

func (a *auditLog) interleaved(k *ledger.Key, first, other, second section) {
	text := fmt.Sprintf("The store's log shows writes number %d and %d to %s by %s%s, and between them number %d by %s; of one of them its own client never heard what became. "+
		"The critical section of %s was not its own.",
		first.mark.Seq, second.mark.Seq, k.Name, first.owner, words.Token(first.fence), other.mark.Seq, other.owner, first.owner)
	h := &rule.Candidate{
		ID: "S3", Key: k, Owners: words.Owners(first.owner, other.owner), Witness: []int{first.mark.Idx, other.mark.Idx, second.mark.Idx},
		Blame: rule.BlameClient, From: a.j.Now, To: a.j.Now, Text: func() string { return text },
		Refuted: func() bool { return a.unasked(first.mark.Idx, other.mark.Idx, second.mark.Idx) },
	}
	if first.fence != 0 {
		a.j.Violate(h)
	} else if !a.j.Suspicious.Full("S3") {
		a.j.Suspect(h)
	}
}
