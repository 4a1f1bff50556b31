package liveness

import (
	"fmt"
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// leasesUnrenewed are leases whose automatic renewal ended in silence that make a loss without
// cause: one of them may have been renewed too late on a busy machine.
const leasesUnrenewed = 3

// Unrenewed decides L5 by leases that were renewed automatically, and ran out under owners who still
// had them and were told nothing. A lock that renews a lease for some time at most may well do that:
// only those leases count that others of the same lock outlived.
type Unrenewed struct {
	*rule.Env
	Lifetimes *rule.Lifetimes
	leases    []unrenewedLease
}

// An unrenewedLease is one that ran out in silence.
type unrenewedLease struct {
	owner          string
	key            *ledger.Key
	lived          time.Duration // from its grant to its deadline
	start          time.Duration // of the last renewal
	deadline, left time.Duration // when it ran out, and when its owner gave it back
	due, idx       int           // the events that set its deadline, and by which its owner gave it back
}

func (*Unrenewed) IDs() []string        { return []string{"L5"} }
func (*Unrenewed) Wants() []ledger.Kind { return []ledger.Kind{ledger.Answered, ledger.Unmoved} }

func (u *Unrenewed) Observe(f *ledger.Fact) {
	g, o := f.Grant, f.Op
	if o.Action != history.Release || g.ReleaseIdx != o.InvIdx || !g.Renewed || !u.Phased {
		return
	}
	u.Lifetimes.Ended(g)
	if g.ReleasedAt <= ledger.Later(g.Latest(), u.Header.TTL/4+u.Header.Epsilon) || g.StoppedAt < g.ReleasedAt || g.LostAt != ledger.Never || inTheWay(u.Env, g, g.Start, g.ReleasedAt) {
		return
	}
	u.leases = rule.AppendLatest(u.leases, unrenewedLease{g.Owner(), f.Key, g.Latest() - g.OK, g.Start, g.Latest(), g.ReleasedAt, g.DeadlineIdx, g.ReleaseIdx})
}

// explained reports whether x may have come to its end by a maximum that the lock keeps to, or while
// the harness stood still for as long as x was not renewed past its end: so may the lock have, on the
// same machine.
func (u *Unrenewed) explained(x unrenewedLease) bool {
	return !u.Lifetimes.Outlived(x.lived) || u.Stalls.Within(x.start, x.left) >= x.left-x.deadline
}

// Finish reports the leases that others outlived.
func (u *Unrenewed) Finish() {
	u.leases = slices.DeleteFunc(u.leases, u.explained)
	if len(u.leases) < leasesUnrenewed {
		return
	}
	var proof []int
	var x unrenewedLease
	for _, x = range u.leases[:leasesUnrenewed] {
		proof = append(proof, x.due, x.idx)
	}
	u.Violate(&rule.Candidate{
		ID: "L5", Key: x.key, Owners: []string{x.owner}, Witness: proof, Blame: rule.BlameLibrary, From: x.start, To: x.left, Margin: ledger.Never,
		Remedy: "renew a lease for as long as its owner has it, whatever becomes of one renewal, or tell him that it is lost.",
		Text: func() string {
			return fmt.Sprintf("The automatic renewal of %d leases stopped, with nothing in the way, and their owners were told nothing: the last of them, %s's on %s, was renewed at %s, "+
				"ran out at %s, and was given back only at %s. The lock renewed another one for longer than that, %s in all.",
				leasesUnrenewed, x.owner, x.key.Name, words.At(x.start), words.At(x.deadline), words.At(x.left), words.Span(u.Lifetimes.Longest()))
		},
	})
}
