package checker

import (
	"fmt"
	"slices"
)

// keptUnsent is how many findings are kept that stand only if a release turns out
// never to have been sent.
const keptUnsent = 4096

// unsentHits are findings that stand only if a release, of unknown outcome so far, turns
// out never to have been sent: its lease went on.
type unsentHits struct {
	by      map[int][]*hit // the release, by its invocation
	count   int
	dropped bool // there was no more place
	lost    int  // releases that turned out so when some had been dropped
}

func (u *unsentHits) keep(release int, h *hit) {
	if u.count == keptUnsent {
		u.dropped = true
		return
	}
	if u.by == nil {
		u.by = make(map[int][]*hit)
	}
	u.by[release] = append(u.by[release], h)
	u.count++
}

// settle forgets the findings of a release that was sent.
func (u *unsentHits) settle(release int) {
	if n := len(u.by[release]); n > 0 {
		delete(u.by, release)
		u.count -= n
	}
}

// unsend reports what stands now that o was never sent. Holds that the key remembers
// are looked at again in any case.
func (j *Judge) unsend(o *op) {
	u := &j.unsentHits
	if u.dropped {
		u.lost++
	}
	for _, h := range u.by[o.invIdx] {
		if b := h.pair[1]; b == nil || !slices.Contains(o.holder.key.held, b) {
			j.violate(h)
		}
	}
	u.settle(o.invIdx)
}

// unplaced says what was not judged, for want of memory.
func (u *unsentHits) unplaced() string {
	if u.lost == 0 {
		return ""
	}
	return fmt.Sprintf("%s releases turned out never to have been sent, after more than %s findings had waited for that: whether others were granted meanwhile (S1, S3z) is not decided.",
		thousands(u.lost), thousands(keptUnsent))
}
