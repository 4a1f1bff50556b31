package checker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/checker/anomaly"
)

// who is to blame.
const (
	blameServer   = "server granted twice"
	blameClient   = "client outlived its lease"
	blameRelease  = "release removed another's lock"
	blameStore    = "store accepted a stale write"
	blameLibrary  = "lock library misreported"
	blameBooks    = "the store does not keep its word"
	blameProgress = "lock made no progress"
	blamePanic    = "lock broke down"
)

// A hit is a finding in the making. Its text is written when judging ends,
// when it is known how the leases in it ended.
type hit struct {
	id      string
	key     *key
	owners  []string
	witness []int
	blame   string
	from    time.Duration // start of the lease that the story begins with
	to      time.Duration // the last event that proves it
	text    func() string
	pair    [2]*grant // that exclude each other, where a second opinion can tell

	// length says for how long their definite holds lasted together. Less may
	// come of it later: a history may tell late that a hold ended early.
	length func() time.Duration

	// stamp is what of it the harness's own clock proves; nil where nothing is. It
	// is not the harness's where a lock or a child stamped itself.
	stamp func() (s stamp, ours bool)

	// margin is by how much a bound on what the lock does was exceeded: a harness that
	// stood still for less cannot have brought it about. 0 is no bound.
	margin time.Duration

	refuted func() bool // by what the history told late; nil where length decides, or nothing can
}

// hits collects findings of one kind, keeping the first of each id.
type hits struct {
	limit int // kept per id
	kept  []*hit
	total map[string]int
}

// full says whether no more findings of id are kept, and counts this one then:
// a flood of them costs nothing.
func (h *hits) full(id string) bool {
	if h.total[id] < h.limit {
		return false
	}
	h.total[id]++
	return true
}

func (h *hits) add(x *hit) {
	if h.total == nil {
		h.total = make(map[string]int)
	}
	h.total[x.id]++
	if h.total[x.id] <= h.limit {
		slices.Sort(x.witness)
		x.witness = slices.Compact(x.witness)
		h.kept = append(h.kept, x)
	}
}

// findings renders what was kept, ordered by first witness, id and the rest of
// the witness; remedied with what helps.
func (h *hits) findings(n *nemesis, remedied bool) []Finding {
	out := make([]Finding, 0, len(h.kept))
	for _, x := range h.kept {
		f := x.finding()
		if a, _ := anomaly.Find(x.id); remedied {
			f.Remedy = a.Remedy
		}
		f.Text = f.paragraph(n.story(x.from, x.to))
		f.Breakers = n.breakers(x.from, x.to)
		out = append(out, f)
	}
	slices.SortStableFunc(out, compareFindings)
	return out
}

func compareFindings(a, b Finding) int {
	if len(a.Witness) > 0 && len(b.Witness) > 0 && a.Witness[0] != b.Witness[0] {
		return a.Witness[0] - b.Witness[0]
	}
	if a.ID != b.ID {
		return strings.Compare(a.ID, b.ID)
	}
	return slices.Compare(a.Witness, b.Witness)
}

func (x *hit) finding() Finding {
	f := Finding{ID: x.id, Name: anomaly.Name(x.id), Owners: x.owners, Witness: x.witness, Blame: x.blame, What: x.told()}
	if x.key != nil {
		f.Key = x.key.name
	}
	return f
}

// paragraph is all that f says: what happened, what helps, and which faults were
// in force.
func (f *Finding) paragraph(meanwhile string) string {
	text := f.What
	if f.Remedy != "" {
		text += " Remedy: " + f.Remedy
	}
	if meanwhile != "" {
		text += " " + meanwhile
	}
	return text
}

// told writes the text. A finding whose text cannot be written stands without.
func (x *hit) told() (s string) {
	defer func() {
		if r := recover(); r != nil {
			s = fmt.Sprintf("%s by %s: see events %v. (Its story could not be told: %v.)", anomaly.Name(x.id), strings.Join(x.owners, ", "), x.witness, r)
		}
	}()
	return x.text()
}

// takeBack drops what the rest of the history has refuted. What it left open by
// no more than the clock uncertainty goes to suspicious. It returns the ids of
// which there were more than kept, so that of the rest nobody can tell.
func (h *hits) takeBack(proved func(*hit) bool, suspicious *hits) []string {
	more := make(map[string]int)
	h.overflow(more)
	var left []string
	h.kept = slices.DeleteFunc(h.kept, func(x *hit) bool {
		if proved(x) {
			return false
		}
		h.total[x.id]--
		if more[x.id] > 0 && !slices.Contains(left, x.id) {
			left = append(left, x.id)
		}
		if x.length != nil && x.length() > 0 {
			suspicious.add(x)
		}
		return true
	})
	return left
}

// overflow names the ids of which more were found than kept.
func (h *hits) overflow(into map[string]int) {
	for id, n := range h.total {
		if n > h.limit {
			into[id] += n
		}
	}
}

// at writes an instant of the history, in seconds since the run began.
func at(t time.Duration) string { return fmt.Sprintf("%.6f s", t.Seconds()) }

// span writes a length of time to three digits or so.
func span(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Microsecond).String()
	}
	return d.String()
}
