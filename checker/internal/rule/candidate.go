package rule

import (
	"slices"
	"time"

	"locktorture/checker/internal/ledger"
)

// who is to blame.
const (
	BlameServer   = "server granted twice"
	BlameTokens   = "tokens out of order"
	BlameClient   = "client outlived its lease"
	BlameRelease  = "release removed another's lock"
	BlameStore    = "store accepted a stale write"
	BlameLibrary  = "lock library misreported"
	BlameBooks    = "the store does not keep its word"
	BlameProgress = "lock made no progress"
	BlamePanic    = "lock broke down"
)

// A Candidate is a finding that the rest of the history may still refute. Its text is written
// when judging ends, since it says how the leases in it ended.
type Candidate struct {
	ID      string
	Key     *ledger.Key
	Owners  []string
	Witness []int
	Blame   string
	From    time.Duration // start of the lease that the story begins with
	To      time.Duration // the last event that proves it
	Text    func() string
	Remedy  string           // what helps, where that is known better than of other findings of the id
	Pair    [2]*ledger.Grant // that exclude each other, where a second opinion can tell

	// Length is for how long the definite holds of Pair overlap. It may shrink when the
	// history tells late that a hold ended early: a candidate that is refuted so, and whose
	// length is not 0, is suspicious.
	Length func() time.Duration

	// Stamp is what a clock has to prove for the finding to stand; nil where it needs none.
	Stamp func() stamp

	// Margin is by how much a bound on the lock was exceeded: a stop of the harness for
	// less cannot explain the finding. 0 is no bound.
	Margin time.Duration

	// Moot is when stops of the harness begin to excuse nothing any more; 0 is never.
	Moot time.Duration

	Refuted func() bool // by what the history told late; nil where nothing can
}

// List collects findings of one kind, keeping the first of each id.
type List struct {
	limit int // kept per id
	Kept  []*Candidate
	Total map[string]int
}

// Full says whether List keeps no more findings of id, and counts this one then. Callers ask
// first, so that a flood of findings costs nothing.
func (h *List) Full(id string) bool {
	if h.Total[id] < h.limit {
		return false
	}
	h.Total[id]++
	return true
}

func (h *List) Add(x *Candidate) {
	if h.Total == nil {
		h.Total = make(map[string]int)
	}
	h.Total[x.ID]++
	if h.Total[x.ID] <= h.limit {
		slices.Sort(x.Witness)
		x.Witness = slices.Compact(x.Witness)
		h.Kept = append(h.Kept, x)
	}
}

// Retract drops the candidates that the rest of the history has refuted; one that is open
// within the clock uncertainty moves to suspicious. It returns the ids of which more had been
// found than were kept, and at least one was dropped: of those that were not kept, nobody can
// say whether they are refuted too.
func (h *List) Retract(proved func(*Candidate) bool, suspicious *List) []string {
	more := make(map[string]int)
	h.Overflow(more)
	var left []string
	h.Kept = slices.DeleteFunc(h.Kept, func(x *Candidate) bool {
		if proved(x) {
			return false
		}
		h.Total[x.ID]--
		if more[x.ID] > 0 && !slices.Contains(left, x.ID) {
			left = append(left, x.ID)
		}
		if x.Length != nil && x.Length() > 0 {
			suspicious.Add(x)
		}
		return true
	})
	return left
}

// Overflow names the ids of which more were found than kept.
func (h *List) Overflow(into map[string]int) {
	for id, n := range h.Total {
		if n > h.limit {
			into[id] += n
		}
	}
}
