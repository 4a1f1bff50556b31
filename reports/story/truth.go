package story

import (
	"maps"
	"slices"
	"strings"
	"time"

	"locktorture/workload/history"
)

// ownersOf says whose name each text is that nodes stored, as far as the history tells:
// that of an owner with whom it begins; or of whoever asked for the key, or held it, when it was
// seen, if there is only one whose lease does not bear another name.
func ownersOf(events []history.Event, holds []Hold) map[string]string {
	seen := map[string][]look{}
	for _, e := range events {
		if e.Op == history.Key && e.Kind == history.OK && holder(e) != "" {
			name := nameIn(e.Holder)
			seen[name] = append(seen[name], lookOf(e))
		}
	}
	out, taken := map[string]string{}, make([]bool, len(holds))
	for more := true; more; {
		more = false
		for _, name := range slices.Sorted(maps.Keys(seen)) {
			if i := leaseOf(name, seen[name], holds, taken); i >= 0 {
				out[name], taken[i], more = holds[i].Owner, true, true
				delete(seen, name)
			}
		}
	}
	return out
}

// A look is when a node was asked, and when it had answered.
type look struct{ from, to time.Duration }

func lookOf(e history.Event) look {
	if e.HasAll(history.HasBegan) && e.Began < e.Time {
		return look{e.Began, e.Time}
	}
	return look{e.Time, e.Time}
}

// nameIn is the name that a stored text begins with; what follows it, such as a token, is
// each node's own.
func nameIn(text string) string {
	if i := strings.IndexAny(text, " ="); i > 0 {
		return text[:i]
	}
	return text
}

// leaseOf is the lease whose name this is, by its place in holds: -1 when that is open.
func leaseOf(name string, looks []look, holds []Hold, taken []bool) int {
	best, most := -1, 0
	for i, h := range holds {
		if rest, ok := strings.CutPrefix(name, h.Owner); ok && (rest == "" || strings.ContainsAny(rest[:1], "#/:")) {
			return i
		}
		within, before := 0, taken[i]
		for _, l := range looks {
			before = before || l.to < h.Invoked
			if l.from <= max(h.To, h.Released) {
				within++
			}
		}
		switch {
		case before || within < most || within == 0:
		case within > most:
			best, most = i, within
		default: // it may be either's
			best = -1
		}
	}
	return best
}

// named fills in whose lease each stretch shows.
func named(all []Stored, owners map[string]string) []Stored {
	all = slices.Clone(all)
	for i := range all {
		all[i].Owner = owners[nameIn(all[i].Holder)]
	}
	return all
}
