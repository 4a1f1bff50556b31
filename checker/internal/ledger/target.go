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

// targetWords says in words whom a fault hit: its clients, nodes and key, or what
// the history says where it names none of these.
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

// affected is whom a fault hit, by name. Both empty is everybody.
type affected struct{ Clients, Nodes []string }

// MostFaults is how many faults samples looks through; of a history with more, it
// judges what no fault touches.
const MostFaults = 4096

func (f *Fault) Crashes() bool { return strings.Contains(f.name, "crash") }

// belongs says whether an owner is this client, in one of its lives.
func belongs(owner, client string) bool {
	rest, ok := strings.CutPrefix(owner, client)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "#/.:-~@"))
}

// StoodStill says whether owner's client was kept from being told anything at any
// time in [from, to].
func (l *Ledger) StoodStill(owner string, from, to time.Duration) bool {
	return l.Nemesis.Marks[clientStopped].Touch(from, to) && l.HitBy(owner, from, to, func(f *Fault) bool { return f.Is(clientStopped) })
}

// ClockMoved says whether the clock that stamps what owner's client does may have been
// moved at any time in [from, to].
func (l *Ledger) ClockMoved(owner string, from, to time.Duration) bool {
	return l.Nemesis.Marks[ownClockMoved].Touch(from, to) && l.HitBy(owner, from, to, func(f *Fault) bool { return f.Is(ownClockMoved) })
}

// HitBy says whether a fault of some kind may have hit owner's client in [from, to].
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

// Affected is whom f hit.
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

// Client says whether it may have hit owner's client.
func (h affected) Client(owner string) bool {
	return len(h.Clients) == 0 || slices.ContainsFunc(h.Clients, func(c string) bool { return belongs(owner, c) })
}
