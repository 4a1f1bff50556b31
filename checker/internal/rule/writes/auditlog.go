package writes

import (
	"fmt"
	"slices"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// auditLog decides S3 over the store's own log, for sections with a write whose outcome is
// unknown to its client or that was acknowledged without a number; and S2, which the answers to
// clients need not show. The log must be complete and in the order of the numbers. A section is
// the writes of one owner with one token; without tokens two sections of one owner look like
// one, so that nothing is proved. A line that nobody asked for, or not with that token (R2), is
// ignored; so is a second line for one write.
type auditLog struct {
	j       *rule.Env
	unasked func(lines ...int) bool // whether nobody asked for one of these as it stands there
	kept    func() bool             // whether every write is compared with the log
	last    rule.Table[section]     // the last write of each key in the log …
	own     rule.Table[section]     // … and of each holder

	unnumbered rule.Table[bool]             // keys of which a write was acknowledged without a number
	tops       rule.Table[ledger.TokenMark] // the highest token of each key in the log
	held       []*rule.Candidate            // that the answers to clients may show as well
}

// A section is a critical section as the log shows it.
type section struct {
	owner   string
	fence   uint64
	mark    ledger.Mark
	unknown bool // its last write was of unknown outcome
	mode    history.Mode
	set     bool
	value   string // of its last write, which names it
}

func (a *auditLog) Observe(f *ledger.Fact) {
	e := f.Event
	if e.Kind != history.OK || e.Key == "" || e.Owner == "" {
		return
	}
	k := a.j.Key(e.Key)
	a.stale(k, f)
	h := a.j.HolderOf(k, a.j.Owner(e.Owner))
	own, last := a.own.At(h.ID), a.last.At(k.No)
	other := *last
	me := section{h.Owner, e.Fence, ledger.Mark{Seq: e.Seq, Idx: e.Index}, f.Op != nil, e.Mode, true, e.Value}
	unknown := own.unknown || other.unknown || me.unknown || *a.unnumbered.At(k.No)
	if unknown && own.set && own.fence == me.fence && other.set && other.mark.Seq > own.mark.Seq && me.mark.Seq > other.mark.Seq &&
		(me.mode == history.Exclusive || other.mode == history.Exclusive) {
		a.interleaved(k, *own, other, me, !own.unknown && !other.unknown && !me.unknown)
	}
	*own, *last = me, me
}

// stale looks for a write that the store accepted after one with a higher token.
func (a *auditLog) stale(k *ledger.Key, f *ledger.Fact) {
	e, fence := f.Event, f.Event.Fence
	if fence == 0 && f.Op != nil {
		fence = f.Op.Fence
	}
	top := a.tops.At(k.No)
	read := e.Mode == history.Shared || f.Op != nil && f.Op.Mode == history.Shared // tokens of readers have no order
	switch {
	case fence == 0 || read || !a.j.Header.Fenced:
	case fence >= top.Fence:
		*top = ledger.TokenMark{Mark: ledger.Mark{Seq: e.Seq, Idx: e.Index}, Fence: fence}
	case top.Seq < e.Seq && len(a.held) < a.j.Limit():
		numbered := !*a.unnumbered.At(k.No) // and so the answers show the order, unless the log has a write once more
		before, owner := *top, a.j.Names.Called[a.j.Owner(e.Owner)]
		text := fmt.Sprintf("The store's log shows that it accepted write number %d to %s, by %s with token %d, although it had accepted token %d before, as number %d. "+
			"A later holder's work is overwritten by an earlier one's.", e.Seq, k.Name, owner, fence, before.Fence, before.Seq)
		line := e.Index
		a.held = append(a.held, &rule.Candidate{
			ID: "S2", Key: k, Owners: words.Owners(owner), Witness: []int{before.Idx, line}, Blame: rule.BlameStore, From: a.j.Now, To: a.j.Now,
			Text: func() string { return text }, Refuted: func() bool {
				return a.unasked(before.Idx, line) || a.j.Listed("R3", k) || numbered && !a.kept()
			},
		})
	}
}

// Finish reports the findings about a key that the answers to clients do not show.
func (a *auditLog) Finish() {
	a.held = slices.DeleteFunc(a.held, func(h *rule.Candidate) bool { return a.j.Listed(h.ID, h.Key) })
	for _, h := range a.held {
		a.j.Violate(h)
	}
}

func (a *auditLog) interleaved(k *ledger.Key, first, other, second section, answered bool) {
	text := fmt.Sprintf("The store's log shows writes number %d and %d to %s by %s%s, and between them number %d by %s; its own client was not told the number of one of them. "+
		"The critical section of %s was not its own.",
		first.mark.Seq, second.mark.Seq, k.Name, first.owner, words.Token(first.fence), other.mark.Seq, other.owner, first.owner)
	h := &rule.Candidate{
		ID: "S3", Key: k, Owners: words.Owners(first.owner, other.owner), Witness: []int{first.mark.Idx, other.mark.Idx, second.mark.Idx},
		Blame: rule.BlameClient, From: a.j.Now, To: a.j.Now, Text: func() string { return text },
		Refuted: func() bool { return a.unasked(first.mark.Idx, other.mark.Idx, second.mark.Idx) },
	}
	twice := first.value == second.value // one write that the log has twice
	switch {
	case first.fence != 0 && answered && !twice:
		if len(a.held) < a.j.Limit() {
			a.held = append(a.held, h)
		}
	case first.fence != 0 && !twice:
		a.j.Violate(h)
	case !answered && !a.j.Suspicious.Full("S3"):
		a.j.Suspect(h)
	}
}
