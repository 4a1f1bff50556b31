package ledger

import (
	"maps"
	"slices"
	"strings"
	"time"

	"locktorture/workload/history"
)

// A settlement says how an unknown outcome became known; 0 where it did not.
type settlement uint8

const (
	byAudit settlement = iota + 1 // by the store's log
	ByLink                        // by a link's receipt
)

// unsettled notes an operation of unknown outcome. A receipt or a line of the store's log that
// came before may settle it at once.
func (l *Ledger) unsettled(e *history.Event, o *Op) {
	o.Kept = true
	l.asked[o.InvIdx] = o
	l.doubt(o)
	l.follow(o)
	l.emit(Unknown, e, o)
	if v, ok := l.receipts[o.InvIdx]; ok {
		delete(l.receipts, o.InvIdx)
		l.settleByLink(e, o, v)
	}
	if o.Doubts != nil && o.Doubts.audited != 0 {
		l.settleByLog(e, o, o.Doubts.audited)
	}
}

// MostEarly bounds how many receipts are kept for operations that are still open.
const MostEarly = 4096

// receipt applies a link's receipt about an invocation.
func (l *Ledger) receipt(e *history.Event) {
	l.emitEvent(Receipt, e)
	if e.Node != "" && l.Header.Nodes > 1 {
		return // one node of several decides nothing
	}
	if o := l.asked[e.Of]; o != nil {
		l.settleByLink(e, o, e.Value)
		return
	}
	switch {
	case l.receipts == nil:
		l.receipts = make(map[int]string)
	case len(l.receipts) >= MostEarly:
		open := l.OpenIndices()
		maps.DeleteFunc(l.receipts, func(of int, _ string) bool { return !open[of] })
	}
	l.receipts[e.Of] = strings.Clone(e.Value)
}

// OpenIndices are the invocations of the operations that are open.
func (l *Ledger) OpenIndices() map[int]bool {
	open := make(map[int]bool)
	for _, slot := range l.Procs.withOpenOp() {
		open[slot.open.InvIdx] = true
	}
	return open
}

// settleByLink turns an unknown outcome into a definite one, yes or no. A yes tells no sequence
// number and grants no lease: its owner never knew of it.
func (l *Ledger) settleByLink(e *history.Event, o *Op, value string) {
	if o.Settled != 0 || value != history.NeverForwarded && value != history.Executed {
		return
	}
	o.Settled = ByLink
	o.Executed = value == history.Executed
	delete(l.asked, o.InvIdx)
	if !o.Executed {
		o.Outcome = history.Fail
		delete(l.unknown, o.Value)
	}
	if o.Action == history.Acquire && !o.Executed && o.Holder.tried == UseUnknown {
		o.Holder.tried = UseRefused
	}
	if o.Action == history.Extend && !o.Executed {
		if o.Grant != nil && o.Grant.Rare != nil {
			o.Grant.Rare.VagueExtensions--
			o.Holder.vagueBeside(o, -1)
		}
		o.Holder.answered(o)
	}
	if o.Action == history.Release && o.Grant != nil {
		o.Grant.ReleaseUnknown = o.Grant.ReleaseUnknown && o.Inner
		if !o.Executed {
			l.unrelease(e, o)
			l.regain(e, o)
		}
	}
	l.emit(Settled, e, o)
}

// audit applies a line of the store's log.
func (l *Ledger) audit(e *history.Event) {
	l.audited = true
	o := l.unknown[e.Value]
	if o != nil && e.Key != "" && o.Holder.Key.Name != e.Key {
		o = nil // a value is unique on its key
	}
	if o != nil {
		o.Seq = e.Seq
		l.settleByLog(e, o, e.Kind)
	} else if k := l.Names.Keys[e.Key]; k != nil {
		for w := k.Log.open.Head; w != nil; w = w.Next {
			if w.Value == e.Value {
				w.Doubt().audited, w.Doubts.auditIdx, w.Seq = e.Kind, e.Index, e.Seq
				o = w
			}
		}
	}
	l.fact = Fact{Kind: Audited, Event: e, Op: o}
	l.Dispatch()
}

// settleByLog gives a write of unknown outcome the outcome k, which the store's log tells. At
// the end of the history, a write that is not in the log has not landed.
func (l *Ledger) settleByLog(e *history.Event, o *Op, k history.Kind) {
	delete(l.unknown, o.Value)
	delete(l.asked, o.InvIdx)
	counted := o.Settled != 0
	o.Settled, o.Outcome = byAudit, k
	if !counted {
		l.emit(Settled, e, o)
	}
	idx := e.Index
	if o.Doubt().audited != 0 {
		idx = o.Doubts.auditIdx
	}
	switch k {
	case history.OK:
		for _, w := range o.Holder.Key.Log.pending { // behind a write that is still open
			if w.Outcome == history.OK {
				o.pass(w, Mark{w.Seq, w.OKIdx})
			}
		}
		l.land(e, o, idx, o.Seq, true)
	case history.Fail:
		if o.Seq != 0 {
			l.emit(Rejected, e, o)
		}
	}
}

// Close gives every operation that is still open an unknown outcome, and
// settles what the end of the history settles.
func (l *Ledger) Close() {
	end := &history.Event{Index: l.Seen, Time: l.Now, Kind: history.Info}
	for _, slot := range l.Procs.withOpenOp() {
		o := slot.open
		slot.open = nil
		e := *end
		e.Op, e.Process = o.Action, o.Process
		e.Index = o.InvIdx // the last that is known of it
		l.complete(&e, o)
	}
	left := l.UnsettledWrites()
	for _, o := range left {
		switch {
		case l.audited:
			o.Seq = 0
			l.settleByLog(end, o, history.Fail)
		case o.Executed && !l.Header.Fenced:
			l.land(end, o, o.OKIdx, 0, true)
		}
	}
}

// UnsettledWrites lists the writes whose outcome is still unknown, in the order of their
// invocation.
func (l *Ledger) UnsettledWrites() []*Op {
	left := slices.Collect(maps.Values(l.unknown))
	slices.SortFunc(left, func(a, b *Op) int { return a.InvIdx - b.InvIdx })
	return left
}

// An unknownAcquire is an acquire of unknown outcome. It is nobody's hold: its owner does not
// know of it, and cannot act on it. Servers may have stored it, from its invocation until a
// whole TTL after its last possible delivery: that may explain why others are refused the key.
type unknownAcquire struct {
	Holder *Holder
	Inv    time.Duration
	Until  time.Duration
}

// doubt notes what an operation of unknown outcome may have done. Neither an acquire nor a
// release makes its owner a holder: one who has asked for a release no longer holds.
func (l *Ledger) doubt(o *Op) {
	switch {
	case o.Action == history.Release && o.Grant != nil && !o.Inner:
		o.Grant.ReleaseUnknown = true
	case o.Action == history.Acquire:
		o.Holder.Key.LastUnknown = unknownAcquire{Holder: o.Holder, Inv: o.Inv, Until: Later(o.OK, max(l.Header.TTL, l.Longest))}
	}
}
