package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/workload/history"
)

// listed is how many names of a target are spelt out.
const listed = 3

// targetWords names the target of a fault: its clients, nodes and key, or what the history says
// where it names none of these.
func targetWords(t *history.Target) string {
	if name := t.Name(); t == nil || name != "" {
		return name
	}
	var words []string
	if w := spell(t.Clients, "clients"); w != "" {
		words = append(words, w)
	}
	if w := spell(t.Nodes, "nodes"); w != "" {
		words = append(words, w)
	}
	if t.Key != "" {
		words = append(words, "key "+t.Key)
	}
	if len(words) == 0 {
		return t.Plain()
	}
	return strings.Join(words, " / ")
}

// spell spells out a few names, and counts more.
func spell(all []string, what string) string {
	if len(all) > listed {
		return fmt.Sprintf("%d %s", len(all), what)
	}
	return strings.Join(all, ", ")
}

// affected are the clients and nodes that a fault affects, by name. Both empty means all.
type affected struct{ Clients, Nodes []string }

// MostFaults is how many faults a rule about samples looks through. In a history with more,
// every fault counts as affecting everybody.
const MostFaults = 4096

func (f *Fault) Crashes() bool { return strings.Contains(f.name, "crash") }

// belongs says whether owner is an incarnation of this client.
func belongs(owner, client string) bool {
	rest, ok := strings.CutPrefix(owner, client)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "#/.:-~@"))
}

// MayBeStopped says whether owner's client may have been stopped at any time in [from, to], and
// so received nothing.
func (l *Ledger) MayBeStopped(owner string, from, to time.Duration) bool {
	return l.Nemesis.Marks[clientStopped].Touch(from, to) && l.HitBy(owner, from, to, func(f *Fault) bool { return f.Is(clientStopped) })
}

// ClockMoved says whether the clock that stamps the events of owner's client may have been
// moved at any time in [from, to].
func (l *Ledger) ClockMoved(owner string, from, to time.Duration) bool {
	return l.Nemesis.Marks[ownClockMoved].Touch(from, to) && l.HitBy(owner, from, to, func(f *Fault) bool { return f.Is(ownClockMoved) })
}

// HitBy says whether a fault for which kind holds may have affected owner's client in [from,
// to].
func (l *Ledger) HitBy(owner string, from, to time.Duration, kind func(*Fault) bool) bool {
	n := &l.Nemesis
	if len(n.Faults) > MostFaults {
		return true
	}
	for f := range n.touching(from, to) {
		if kind(f) && f.Affected().Client(owner) {
			return true
		}
	}
	return false
}

// Affected are the clients and nodes that f affects.
func (f *Fault) Affected() affected {
	switch t := f.target; {
	case t == nil:
		return affected{}
	case t.Name() != "":
		return affected{Clients: []string{t.Name()}}
	default:
		return affected{t.Clients, t.Nodes}
	}
}

// Client says whether owner's client may be affected.
func (h affected) Client(owner string) bool {
	return len(h.Clients) == 0 || slices.ContainsFunc(h.Clients, func(c string) bool { return belongs(owner, c) })
}
