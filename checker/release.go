package checker

import (
	"slices"
	"strings"
	"time"

	"locktorture/workload/history"
)

// stopAt ends the definite hold at t, unless it ended before.
func (g *grant) stopAt(t time.Duration, idx int) {
	if g.trouble != nil {
		g.trouble.perhaps = false
	}
	switch {
	case t < g.stop:
		g.stop, g.stopIdx = t, idx
	case g.inTrouble().next == 0 || t < g.trouble.next:
		g.trouble.next = t
	}
	if g.holder.grant == g {
		g.holder.over = true
	}
	if g.member != 0 {
		g.holder.key.crowd.stretch(g)
	}
}

// An innerRelease was answered yes.
type innerRelease struct {
	inv, ok time.Duration
	idx     int // 0 is none
}

// deny books that g's owner asked, by o, and was told that it had lost g: for each
// of its processes the first time.
func (g *grant) deny(o *op) {
	if g == nil {
		return
	}
	at := &g.inTrouble().denied
	for n := 0; *at != nil; n, at = n+1, &(*at).next {
		if (*at).by == o.process || n == maxDenials {
			return
		}
	}
	g.stampedBy(o.host)
	*at = &denial{t: o.ok, idx: o.okIdx, by: o.process, host: o.host, fence: o.fence}
}

// maxDenials is how many processes of an owner are remembered that were told of its
// loss; what any other one was told counts only as far as the clocks tell.
const maxDenials = 4

// releasing books the invocation of a release. An inner release of a
// re-entrant hold ends nothing.
func (j *Judge) releasing(e *history.Event, o *op) {
	g := o.grant
	if g == nil {
		return
	}
	g.stampedBy(o.host)
	o.holder.stopBeside(g, o.process, o.fence, o.inv, o.invIdx)
	if g.depth > 1 && g.rel == never {
		g.depth--
		o.inner = true
		return
	}
	if g.rel == never {
		g.rel, g.relIdx, g.relBy, g.leaving = o.inv, o.invIdx, o.process, true
		if g.strange(o.fence) {
			g.inTrouble().relWord = o.fence
		}
	}
	g.stopAt(o.inv, o.invIdx)
	j.say(releasing, e, o)
}

// releaseDone completes a release.
func (j *Judge) releaseDone(e *history.Event, o *op) {
	if of := o.holder.named(o); of != nil { // it says only now which lease it was of
		j.unrelease(e, o)
		j.under(o, of)
		j.releasing(e, o)
	}
	switch {
	case o.grant == nil:
	case o.outcome == history.Fail && (unsent(e.Err) || j.early[o.invIdx] == history.NeverForwarded):
		j.unrelease(e, o)
	case o.inner:
		j.innerDone(e, o)
	default:
		j.outerDone(e, o)
	}
	if o.outcome == history.Info {
		j.unsettled(e, o)
	}
}

// innerDone completes an inner release. One that is refused tells its owner that
// the whole hold is gone.
func (j *Judge) innerDone(e *history.Event, o *op) {
	switch o.outcome {
	case history.OK:
		o.grant.inTrouble().inner = innerRelease{o.inv, o.ok, o.okIdx}
		j.say(left, e, o)
	case history.Fail:
		o.grant.deny(o)
		o.grant.stopAt(o.ok, o.okIdx)
		j.denyBeside(o)
		j.say(answered, e, o)
	}
}

// denyBeside: what an owner was refused, without a token to tell which lease of its
// was meant, goes for those before as well.
func (j *Judge) denyBeside(o *op) {
	h := o.holder
	if o.grant != h.grant {
		return
	}
	for x := range h.leases {
		if x != o.grant && x.fence == o.grant.fence && x.ok <= o.inv {
			x.deny(o)
			x.stopAt(o.ok, o.okIdx)
		}
	}
}

// givenUp books that an owner whose latest lease was over by another word gave one back,
// and did not say which: it holds the one before no more either.
func (j *Judge) givenUp(o *op) {
	g, p := o.grant, o.holder.prior
	if o.fence != 0 || g != o.holder.grant || p == nil || !p.goesOn() || g.stopIdx == o.invIdx || p.ok > o.inv {
		return
	}
	switch o.outcome {
	case history.OK:
		p.rel, p.relIdx, p.relBy = o.inv, o.invIdx, o.process
		p.stopAt(o.inv, o.invIdx)
	case history.Fail:
		p.deny(o)
		p.stopAt(o.ok, o.okIdx)
	}
}

func (j *Judge) outerDone(e *history.Event, o *op) {
	g := o.grant
	if g.relIdx == o.invIdx {
		g.leaving = false
	}
	j.restop(e, o, o.inv)
	if g.relIdx == o.invIdx && g.stopIdx == o.invIdx {
		old, rel := g.end(), g.rel
		g.rel, g.stop = o.inv, o.inv
		if o.inv > rel {
			j.change(postponed, e, o, old)
		}
	}
	switch {
	case o.outcome == history.OK && g.relOK == never:
		g.relOK = o.ok
		if g.relIdx != o.invIdx {
			g.inTrouble().relOKIdx = o.okIdx
		}
	case o.outcome == history.Fail:
		g.deny(o)
		j.denyBeside(o)
	}
	if o.outcome != history.Info {
		j.unsentHits.settle(o.invIdx)
	}
	j.givenUp(o)
	j.say(answered, e, o)
}

// unrelease takes back what the invocation of o, a release that was never sent or
// not of the lease that it seemed to be of, had ended.
func (j *Judge) unrelease(e *history.Event, o *op) {
	g := o.grant
	j.restop(e, o, never)
	switch {
	case g == nil:
		return
	case o.inner:
		g.depth++
		o.inner = false
		return
	case g.relIdx != o.invIdx || g.rel == never:
		return
	}
	old := g.end()
	j.unsend(o)
	g.rel, g.leaving, g.relUnsure = never, false, false
	if g.stopIdx == o.invIdx {
		g.stop = never
		if g.trouble != nil && g.trouble.next != 0 {
			g.stop = g.trouble.next
		}
	}
	if g.holder.grant == g {
		g.holder.over = g.stop != never
	}
	j.recall(g)
	j.change(postponed, e, o, old)
}

// unsentWords are what the error of a release says that certainly was not sent. Any
// other refusal is the lock's answer.
var unsentWords = []string{
	"connection refused", "not sent", "never sent", "not connected", "no route to host", "network is unreachable", "no such host", "dial ",
}

// unsent says whether err, of a release that failed, says that it never was sent.
func unsent(err string) bool {
	return err != "" && slices.ContainsFunc(unsentWords, func(word string) bool { return strings.Contains(err, word) })
}
