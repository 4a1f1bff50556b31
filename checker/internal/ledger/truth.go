package ledger

import (
	"maps"
	"slices"
	"strings"
	"time"

	"locktorture/workload/history"
)

// A settlement says how an unknown outcome was settled. Zero is not at all.
type settlement uint8

const (
	byAudit settlement = iota + 1 // by the store's log
	ByLink                        // by a link's receipt
)

// unsettled books an operation of unknown outcome, which what is known already
// may settle at once.
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

// MostEarly bounds how many receipts wait for the operation that they
// speak of to be given up.
const MostEarly = 4096

// receipt takes what a link says of an invocation.
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
	for _, slot := range l.Procs.open() {
		open[slot.open.InvIdx] = true
	}
	return open
}

// settleByLink turns an unknown outcome into a definite no, or yes. A yes
// tells no sequence number and gives nobody a lease: its owner never knew.
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

// audit takes a line of the store's log.
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

// settleByLog gives a write of unknown outcome the one that the store's log
// tells. In the end, a write that is not in the log has not landed.
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
	for _, slot := range l.Procs.open() {
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

// UnsettledWrites lists the writes that are of unknown outcome still, in the
// order of their invocation.
func (l *Ledger) UnsettledWrites() []*Op {
	left := slices.Collect(maps.Values(l.unknown))
	slices.SortFunc(left, func(a, b *Op) int { return a.InvIdx - b.InvIdx })
	return left
}

// A unknownAcquire is an acquire of unknown outcome. It is nobody's hold: its owner does
// not know of it, and cannot act on it. What it may have left on the servers, from
// its invocation until a whole TTL after its last possible delivery, counts where
// somebody is refused the key.
type unknownAcquire struct {
	Holder *Holder
	Inv    time.Duration
	Until  time.Duration
}

// doubt books what an operation of unknown outcome leaves open. Neither makes anybody
// a holder: who asked to release has let go from then on.
func (l *Ledger) doubt(o *Op) {
	switch {
	case o.Action == history.Release && o.Grant != nil && !o.Inner:
		o.Grant.ReleaseUnknown = true
	case o.Action == history.Acquire:
		o.Holder.Key.LastUnknown = unknownAcquire{Holder: o.Holder, Inv: o.Inv, Until: Later(o.OK, max(l.Header.TTL, l.Longest))}
	}
}
