package liveness

import (
	"fmt"
	"strings"
	"time"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// releasesInError are releases that ended in an error, though no link and no server failed, and
// gave nothing back, that make a leftover: what one of them met may have been out of the ordinary.
const releasesInError = 3

// A releaseInError is a key's latest release that ended in an error which tells of no link.
type releaseInError struct {
	owner    string
	asked    moment
	answered time.Duration
	err      string
}

// errs notes a release that ended in an error, of a lease that its owner holds alone.
func (s *Samples) errs(k *sampledKey, f *ledger.Fact) {
	err := f.Event.Err
	if f.Grant.Mode != history.Exclusive || err == "" || history.OfNetwork(err) || s.crashed(f.Op.Holder.Owner, f.Op.Inv, f.Event.Time) {
		return
	}
	k.inError = &releaseInError{f.Op.Holder.Owner, moment{f.Op.Inv, f.Op.InvIdx}, f.Event.Time, strings.Clone(err)}
}

// unreturned reports L8 when releases end in errors on servers that are healthy, and nodes keep
// what was to be given back.
func (s *Samples) unreturned(key *ledger.Key, k *sampledKey, v *sampledView, e *history.Event) {
	r := k.inError
	bound := s.undo() + s.Header.Epsilon
	if r == nil || v.seen-r.answered <= bound {
		return
	}
	if !v.there || v.first.t > r.asked.t {
		return
	}
	k.inError = nil
	since := r.asked.t - s.Header.TTL
	if hurt, free := s.affected(v.node, since, v.seen, func(f *ledger.Fault) bool { hit := f.Affected(); return hit.Client(r.owner) }); hurt > 0 || !free {
		return
	}
	o := s.inError
	if o == nil {
		o = &lasting{}
		o.Candidate = &rule.Candidate{ID: "L8", Blame: rule.BlameLibrary, From: r.asked.t}
		s.inError = o
	}
	margin := v.seen - r.answered - bound
	if n := len(o.Witness); n == 0 || margin < o.Margin {
		o.Margin = margin
	}
	if len(o.Witness) >= releasesInError {
		o.To = v.seen
		return
	}
	o.Witness, o.To = append(o.Witness, r.asked.idx), v.seen
	if len(o.Witness) < releasesInError {
		return
	}
	node, text, undo := v.node, v.text, s.undo()
	o.Key, o.Owners, o.Witness = key, []string{r.owner}, append(o.Witness, e.Index)
	o.Text = func() string {
		return fmt.Sprintf("%d releases ended in an error, though nothing was in the way, and gave nothing back: the last of them, by %s of %s at %s, with %q. Node %s still stored %q at %s, for longer than the %s that a release may take. "+
			"Remedy: have the release get over such an answer, as of a script that a server has forgotten, and give the lease back all the same.",
			releasesInError, r.owner, key.Name, words.At(r.asked.t), r.err, node, text, words.At(v.seen), words.Span(undo))
	}
	s.Violate(o.Candidate)
}
