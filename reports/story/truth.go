package story

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"locktorture/workload/history"
)

// ownersOf says whose name each text is that nodes stored, as far as the history tells:
// that of an owner with whom it begins; of the one whose token stands behind it; or of whoever
// held the key when it was seen, if there is only one whose lease does not bear another name.
func ownersOf(events []history.Event, holds []Hold) map[string]string {
	seen := map[string]*label{}
	for _, e := range events {
		if e.Op == history.Key && e.Kind == history.OK && holder(e) != "" {
			name := nameIn(e.Holder)
			if seen[name] == nil {
				seen[name] = &label{name: strings.Clone(name)}
			}
			seen[name].looks = append(seen[name].looks, lookOf(e))
			seen[name].token = max(seen[name].token, tokenIn(e.Holder))
		}
	}
	out, taken := map[string]string{}, make([]bool, len(holds))
	for _, find := range []func(*label, []Hold, []bool) int{byToken, byTime} {
		for more := true; more; {
			more = false
			for _, name := range slices.Sorted(maps.Keys(seen)) {
				if i := find(seen[name], holds, taken); i >= 0 {
					out[name], taken[i], more = holds[i].Owner, true, true
					delete(seen, name)
				}
			}
		}
	}
	return out
}

// A label is what tells one lease from others on the nodes.
type label struct {
	name  string
	token uint64 // the highest that stood behind it; 0 is none
	looks []look
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

// tokenIn is the number that ends a stored text; 0 without one.
func tokenIn(text string) uint64 {
	_, last, _ := strings.Cut(text, " ")
	n, _ := strconv.ParseUint(last, 10, 64)
	return n
}

// byToken is the lease, by its place in holds, whose owner's name or token a label bears; -1 when there
// is none, or more than one.
func byToken(l *label, holds []Hold, taken []bool) int {
	found := -1
	for i, h := range holds {
		if rest, ok := strings.CutPrefix(l.name, h.Owner); ok && (rest == "" || strings.ContainsAny(rest[:1], "#/:")) {
			return i
		}
		if l.token == 0 || h.Fence != l.token || taken[i] || l.before(h) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// before says whether the label was seen before h was asked for.
func (l *label) before(h Hold) bool {
	return slices.ContainsFunc(l.looks, func(x look) bool { return x.to < h.Invoked })
}

// byTime is the lease during which a label was seen more often than during any other; -1
// when that is open.
func byTime(l *label, holds []Hold, taken []bool) int {
	best, most := -1, 0
	for i, h := range holds {
		within := 0
		for _, x := range l.looks {
			if x.to >= h.From && x.from <= max(h.To, h.Released) {
				within++
			}
		}
		switch {
		case taken[i] || within == 0 || within < most || l.before(h):
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
