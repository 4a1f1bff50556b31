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
	if err := f.Event.Err; f.Grant.Mode == history.Exclusive && err != "" && !history.OfNetwork(err) {
		k.inError = &releaseInError{f.Op.Holder.Owner, moment{f.Op.Inv, f.Op.InvIdx}, f.Event.Time, strings.Clone(err)}
	}
}

// unreturned reports L8 when releases end in errors on servers that are healthy, and nodes keep
// what was to be given back. It is reported once.
func (s *Samples) unreturned(key *ledger.Key, k *sampledKey, v *sampledView, e *history.Event) {
	r, bound := k.inError, s.undo()+s.Header.Epsilon
	if r == nil || v.seen-r.answered <= bound || !v.there || v.first.t > r.asked.t {
		return
	}
	k.inError = nil
	concerns := func(f *ledger.Fault) bool { hit := f.Affected(); return hit.Client(r.owner) }
	if hurt, free := s.affected(v.node, r.asked.t-s.Header.TTL, v.seen, concerns); hurt != 0 || !free || len(s.inError) == releasesInError {
		return
	}
	if s.inError = append(s.inError, r.asked.idx); len(s.inError) < releasesInError {
		return
	}
	node, text, seen, undo := v.node, v.text, v.seen, s.undo()
	s.Violate(&rule.Candidate{
		ID: "L8", Key: key, Owners: []string{r.owner}, Witness: append(slices.Clone(s.inError), e.Index), Blame: rule.BlameLibrary,
		From: r.asked.t, To: seen, Margin: seen - r.answered - bound,
		Remedy: "have the release get over such an answer, as of a script that a server has forgotten, and give the lease back all the same.",
		Text: func() string {
			return fmt.Sprintf("%d releases ended in an error, though nothing was in the way, and gave nothing back: the last of them, by %s of %s at %s, with %q. Node %s still stored %q at %s, for longer than the %s that a release may take.",
				releasesInError, r.owner, key.Name, words.At(r.asked.t), r.err, node, text, words.At(seen), words.Span(undo))
		},
	})
}
