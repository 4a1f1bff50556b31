package liveness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// leasesRefused are leases whose extension or release was refused before they could run out, that
// make a loss without cause: what one of them met may have been out of the ordinary.
const leasesRefused = 3

// Refusals decides L5 by what owners are told who extend a lease, or give it back: whoever is
// refused then has lost it. A lease that is refused while its promise stands, with nothing in the
// way, was lost without cause, or never was as long as promised. That a late release of somebody
// else's took it away is S5's to tell.
type Refusals struct {
	*rule.Env
	leases []refusedLease // the latest few
}

// A refusedLease is a lease that was refused before it could run out.
type refusedLease struct {
	id          int // of the lease: its grant
	owner       string
	key         *ledger.Key
	action, err string
	start, told time.Duration
	idx, due    int // of the refusal, and of what promised
	deadline    time.Duration
}

func (*Refusals) IDs() []string        { return []string{"L5"} }
func (*Refusals) Wants() []ledger.Kind { return []ledger.Kind{ledger.Unmoved, ledger.Answered} }

func (r *Refusals) Observe(f *ledger.Fact) {
	g, o := f.Grant, f.Op
	released := o.Action == history.Release && g.ReleaseIdx == o.InvIdx
	if o.Outcome != history.Fail || !r.Phased || g.Waited || g.LostAt != ledger.Never || g.ReleasedAt != ledger.Never && !released {
		return
	}
	if ledger.Later(o.OK, r.Header.Epsilon) >= g.Deadline || len(g.Intruders()) > 0 || history.OfNetwork(f.Event.Err) {
		return
	}
	from := g.Start - 2*r.Header.TTL // what a node forgot, or a client sent before, may come up as late
	if inTheWay(r.Env, g, from, o.OK) || meddled(g) || slices.ContainsFunc(r.leases, func(x refusedLease) bool { return x.id == g.OKIdx }) {
		return
	}
	action := "extension"
	if o.Action == history.Release {
		action = "release"
	}
	r.leases = rule.AppendLatest(r.leases, refusedLease{g.OKIdx, g.Owner(), f.Key, action, strings.Clone(f.Event.Err), g.Start, o.OK, o.OKIdx, g.DeadlineIdx, g.Deadline})
}

// meddled reports whether a release of another lease of g's key came so late, or may come, that it
// may have taken g away: that is another finding.
func meddled(g *ledger.Grant) bool {
	return slices.ContainsFunc(g.Holder.Key.Held, func(x *ledger.Grant) bool {
		return x != g && (x.Releasing || x.ReleaseUnknown || x.ReleaseOK != ledger.Never && x.ReleaseOK >= g.Inv)
	})
}

// stood reports whether the harness stood still for so long that x may have been lost by that:
// too few of several nodes may have been asked in time. One node that refuses what it was to keep
// does so whoever stands still.
func (r *Refusals) stood(x refusedLease) bool {
	return r.Header.Quorum > 1 && r.Stalls.Within(x.start, x.told) >= r.Shortest()
}

// Finish reports what no stop of the harness explains.
func (r *Refusals) Finish() {
	r.leases = slices.DeleteFunc(r.leases, r.stood)
	if len(r.leases) < leasesRefused {
		return
	}
	var proof []int
	for _, x := range r.leases[:leasesRefused] {
		proof = append(proof, x.due, x.idx)
	}
	x, said := r.leases[leasesRefused-1], ""
	if x.err != "" {
		said = fmt.Sprintf(", with %q", x.err)
	}
	r.Violate(&rule.Candidate{
		ID: "L5", Key: x.key, Owners: []string{x.owner}, Witness: proof, Blame: rule.BlameLibrary, From: x.start, To: x.told, Margin: ledger.Never,
		Remedy: "promise no more than the nodes keep, on whichever of them and under whichever keys the lease is stored, and extend all of it.",
		Text: func() string {
			return fmt.Sprintf("%d leases were refused to their owners before they could run out, with nothing in the way and nobody else granted the key meanwhile: the last of them, %s's on %s, "+
				"which was to last until %s. Its %s was refused at %s%s.",
				leasesRefused, x.owner, x.key.Name, words.At(x.deadline), x.action, words.At(x.told), said)
		},
	})
}
