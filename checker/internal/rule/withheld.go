package rule

import (
	"fmt"
	"slices"

	"locktorture/checker/internal/ledger"
	"locktorture/checker/internal/words"
	"locktorture/workload/history"
)

// keptUnsent is how many findings are kept that stand only if a release turns out never to have
// been sent.
const keptUnsent = 4096

// withheld are findings that stand only if a release, of unknown outcome so far, turns out
// never to have been sent, so that its lease went on.
type withheld struct {
	c       *collector
	by      map[int][]*Candidate // the release, by its invocation
	count   int
	dropped bool // there was no more place
	lost    int  // releases that turned out so when some had been dropped
}

func (*withheld) IDs() []string        { return []string{"S1", "S3z"} }
func (*withheld) Wants() []ledger.Kind { return []ledger.Kind{ledger.Unsent, ledger.Answered} }
func (*withheld) Finish()              {}

func (w *withheld) Observe(f *ledger.Fact) {
	switch {
	case f.Kind == ledger.Unsent:
		w.unsent(f.Op)
	case f.Op.Outcome != history.Info:
		w.sent(f.Op.InvIdx)
	}
}

// add keeps h until it is known whether a release was sent.
func (w *withheld) add(release int, h *Candidate) {
	if w.count == keptUnsent {
		w.dropped = true
		return
	}
	if w.by == nil {
		w.by = make(map[int][]*Candidate)
	}
	w.by[release] = append(w.by[release], h)
	w.count++
}

// sent drops the findings that depend on a release which was sent.
func (w *withheld) sent(release int) {
	if n := len(w.by[release]); n > 0 {
		delete(w.by, release)
		w.count -= n
	}
}

// unsent reports the findings that stand since o was never sent. Holds that the key remembers
// are compared again in any case.
func (w *withheld) unsent(o *ledger.Op) {
	if w.dropped {
		w.lost++
	}
	for _, h := range w.by[o.InvIdx] {
		if b := h.Pair[1]; b == nil || !slices.Contains(o.Holder.Key.Held, b) {
			w.c.Violate(h)
		}
	}
	w.sent(o.InvIdx)
}

// Unplaced says what was not judged, for want of memory.
func (w *withheld) Unplaced() string {
	if w.lost == 0 {
		return ""
	}
	return fmt.Sprintf("%s releases turned out never to have been sent, after more than %s findings had waited for that: whether others were granted meanwhile (S1, S3z) is not decided.",
		words.Thousands(w.lost), words.Thousands(keptUnsent))
}
