package checker

import (
	"maps"
	"slices"
	"strings"

	"locktorture/workload/history"
)

// A settlement says how an unknown outcome was settled. Zero is not at all.
type settlement uint8

const (
	byAudit settlement = iota + 1 // by the store's log
	byLink                        // by a link's receipt
)

// unsettled books an operation of unknown outcome, which what is known already
// may settle at once.
func (j *Judge) unsettled(e *history.Event, o *op) {
	j.keepOp(tieUnknown, o)
	j.asked[o.invIdx] = o
	j.say(unknown, e, o)
	if v, ok := j.early[o.invIdx]; ok {
		delete(j.early, o.invIdx)
		j.settleByLink(e, o, v)
	}
	if o.doubts != nil && o.doubts.audited != 0 {
		j.settleByLog(e, o, o.doubts.audited)
	}
}

// earlyReceipts bounds how many receipts wait for the operation that they
// speak of to be given up.
const earlyReceipts = 4096

// receipt takes what a link says of an invocation.
func (j *Judge) receipt(e *history.Event) {
	j.tell(receipt, e)
	if e.Node != "" && j.h.Nodes > 1 {
		return // one node of several decides nothing
	}
	if o := j.asked[e.Of]; o != nil {
		j.settleByLink(e, o, e.Value)
		return
	}
	switch {
	case j.early == nil:
		j.early = make(map[int]string)
	case len(j.early) >= earlyReceipts:
		open := j.openIndices()
		maps.DeleteFunc(j.early, func(of int, _ string) bool { return !open[of] })
	}
	j.early[e.Of] = strings.Clone(e.Value)
}

// openIndices are the invocations of the operations that are open.
func (j *Judge) openIndices() map[int]bool {
	open := make(map[int]bool)
	for _, slot := range j.procs.open() {
		open[slot.open.invIdx] = true
	}
	return open
}

// settleByLink turns an unknown outcome into a definite no, or yes. A yes
// tells no sequence number and gives nobody a lease: its owner never knew.
func (j *Judge) settleByLink(e *history.Event, o *op, value string) {
	if o.settled != 0 || value != history.NeverForwarded && value != history.Executed {
		return
	}
	o.settled = byLink
	o.executed = value == history.Executed
	delete(j.asked, o.invIdx)
	if !o.executed {
		o.outcome = history.Fail
		delete(j.unknown, o.value)
	}
	if o.what == history.Acquire && !o.executed && o.holder.tried == useUnknown {
		o.holder.tried = useRefused
	}
	if o.what == history.Extend && !o.executed && o.grant != nil && o.grant.trouble != nil {
		t := o.grant.trouble
		if t.vague--; t.vague == 0 {
			for _, h := range t.unmoved {
				j.violate(h)
			}
			t.unmoved = nil
		}
	}
	if o.what == history.Release && o.grant != nil {
		o.grant.relUnsure = o.grant.relUnsure && o.inner
		if !o.executed {
			if j.violations.total["S8"] > 0 {
				j.unsent[o.invIdx] = true
			}
			j.unrelease(e, o)
		}
	}
	j.say(settled, e, o)
}

// audit takes a line of the store's log.
func (j *Judge) audit(e *history.Event) {
	j.audited = true
	o := j.unknown[e.Value]
	if o != nil {
		o.seq = e.Seq
		j.settleByLog(e, o, e.Kind)
	} else if k := j.names.keys[e.Key]; k != nil {
		for w := k.log.open.head; w != nil; w = w.next {
			if w.value == e.Value {
				w.doubt().audited, w.doubts.auditIdx, w.seq = e.Kind, e.Index, e.Seq
				o = w
			}
		}
	}
	j.f = fact{what: audited, e: e, op: o}
	j.dispatch(&j.f)
}

// settleByLog gives a write of unknown outcome the one that the store's log
// tells. In the end, a write that is not in the log has not landed.
func (j *Judge) settleByLog(e *history.Event, o *op, k history.Kind) {
	delete(j.unknown, o.value)
	delete(j.asked, o.invIdx)
	counted := o.settled != 0
	o.settled, o.outcome = byAudit, k
	if !counted {
		j.say(settled, e, o)
	}
	idx := e.Index
	if o.doubt().audited != 0 {
		idx = o.doubts.auditIdx
	}
	switch k {
	case history.OK:
		for _, w := range o.holder.key.log.pending { // behind a write that is still open
			if w.outcome == history.OK {
				o.pass(w, mark{w.seq, w.okIdx})
			}
		}
		j.land(e, o, idx, o.seq, true)
	case history.Fail:
		if o.seq != 0 {
			j.say(rejected, e, o)
		}
	}
}

// close gives every operation that is still open an unknown outcome, and
// settles what the end of the history settles.
func (j *Judge) close() {
	end := &history.Event{Index: j.events, Time: j.now, Kind: history.Info}
	for _, slot := range j.procs.open() {
		o := slot.open
		slot.open = nil
		e := *end
		e.Op, e.Process = o.what, o.process
		e.Index = o.invIdx // the last that is known of it
		j.complete(&e, o)
	}
	left := j.unsettledWrites()
	for _, o := range left {
		switch {
		case j.audited:
			o.seq = 0
			j.settleByLog(end, o, history.Fail)
		case o.executed && !j.h.Fenced:
			j.land(end, o, o.okIdx, 0, true)
		}
	}
}

// unsettledWrites lists the writes that are of unknown outcome still, in the
// order of their invocation.
func (j *Judge) unsettledWrites() []*op {
	left := slices.Collect(maps.Values(j.unknown))
	slices.SortFunc(left, func(a, b *op) int { return a.invIdx - b.invIdx })
	return left
}
