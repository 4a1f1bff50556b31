package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"locktorture/reports/stats"
	"locktorture/reports/unit"
	"locktorture/workload/history"
)

// Beside its witnesses a story names a few faults and writes around them.
const (
	maxFaultSteps = 3
	maxWriteSteps = 3
)

// tell makes the story of one violation.
func (c *Collector) tell(n int, k *kase) Story {
	s := Story{ID: fmt.Sprintf("M-%d", n), Finding: k.finding, Remedy: remedy(k.finding)}
	s.Events = append(slices.Clone(k.before), k.within...)
	witnesses := k.witnesses(c.nemesis)
	s.Holds = believed(s.Events, c.header)
	s.Overlap = overlap(s.Holds, involved(k.finding.Owners, witnesses))
	s.From, s.To = extent(witnesses, s)
	margin := max((s.To-s.From)/10, 5*time.Millisecond)
	s.From, s.To = max(s.From-margin, 0), s.To+margin
	s.Stored = stored(s.Events, s.To)
	s.Writes = writes(s.Events, s.Holds)
	s.Faults = nearby(c.nemesis, s.From-c.header.TTL, s.To)
	s.Steps = steps(c.chosen(witnesses, s))
	s.Holds = slices.DeleteFunc(s.Holds, func(h Hold) bool { return h.To < s.From || h.From > s.To })
	s.Writes = slices.DeleteFunc(s.Writes, func(w Write) bool { return w.Time < s.From || w.Time > s.To })
	s.Events = around(s.Events, c.nemesis, s.From, s.To)
	s.Title = title(s)
	return s
}

// witnesses are the events that prove the violation, in order.
func (k *kase) witnesses(nemesis []history.Event) []history.Event {
	var out []history.Event
	for _, list := range [][]history.Event{k.within, nemesis} {
		for _, e := range list {
			if _, ok := slices.BinarySearch(k.finding.Witness, e.Index); ok {
				out = append(out, e)
			}
		}
	}
	slices.SortFunc(out, byIndex)
	return out
}

func byIndex(a, b history.Event) int { return cmp.Compare(a.Index, b.Index) }

// involved lists the owners that the violation is about.
func involved(owners []string, witnesses []history.Event) []string {
	out := slices.Clone(owners)
	for _, e := range witnesses {
		if e.Owner != "" && !slices.Contains(out, e.Owner) {
			out = append(out, e.Owner)
		}
	}
	return out
}

// extent spans the witnesses and the holds that overlap.
func extent(witnesses []history.Event, s Story) (from, to time.Duration) {
	for i, e := range witnesses {
		if i == 0 {
			from = e.Time
		}
		from, to = min(from, e.Time), max(to, e.Time)
	}
	for _, h := range s.Holds {
		if !slices.Contains(involved(s.Finding.Owners, witnesses), h.Owner) {
			continue
		}
		granted := slices.ContainsFunc(witnesses, func(e history.Event) bool { return e.Time == h.From && e.Owner == h.Owner })
		if granted || s.Overlap.Length() > 0 && h.From <= s.Overlap.To && h.To >= s.Overlap.From {
			from, to = min(from, h.Invoked), max(to, h.To, h.Released)
		}
	}
	return from, to
}

// chosen adds to the witnesses the faults that began or ended shortly before,
// and the writes made while two held.
func (c *Collector) chosen(witnesses []history.Event, s Story) []history.Event {
	picked := slices.Clone(witnesses)
	add := func(e history.Event) bool {
		if slices.ContainsFunc(picked, func(p history.Event) bool { return p.Index == e.Index }) {
			return false
		}
		picked = append(picked, e)
		return true
	}
	end := s.To
	if len(witnesses) > 0 {
		end = witnesses[len(witnesses)-1].Time
	}
	faults, writes := 0, 0
	for _, e := range slices.Backward(c.nemesis) {
		if faults < maxFaultSteps && e.Op == history.Fault && e.Kind != history.Invoke && e.Time >= s.From-c.header.TTL && e.Time <= end && add(e) {
			faults++
		}
	}
	for _, e := range s.Events {
		within := s.Overlap.Length() > 0 && e.Time >= s.Overlap.From && e.Time <= s.Overlap.To
		if writes < maxWriteSteps && within && e.Op == history.Write && e.Kind != history.Invoke && add(e) {
			writes++
		}
	}
	slices.SortFunc(picked, byIndex)
	return picked
}

// around merges the events of the key with the nemesis's in [from, to].
func around(events, nemesis []history.Event, from, to time.Duration) []history.Event {
	out := slices.Clone(events)
	out = append(out, nemesis...)
	out = slices.DeleteFunc(out, func(e history.Event) bool { return e.Time < from || e.Time > to })
	slices.SortFunc(out, byIndex)
	return slices.CompactFunc(out, func(a, b history.Event) bool { return a.Index == b.Index })
}

// nearby lists the faults that were in force between from and to.
func nearby(nemesis []history.Event, from, to time.Duration) []Fault {
	log := stats.New(history.Header{})
	nodes := map[time.Duration][]string{}
	for i := range nemesis {
		log.Event(&nemesis[i])
		if len(nemesis[i].Target) > 0 {
			nodes[nemesis[i].Time] = stats.TargetNames(nemesis[i].Target, "node", "nodes")
		}
	}
	var out []Fault
	for _, f := range log.Summary().Faults {
		end := f.End()
		if f.Started == stats.Never || f.Started > to || end != stats.Never && end < from {
			continue
		}
		if end == stats.Never {
			end = to
		}
		out = append(out, Fault{Name: f.Name, Target: f.Target, Nodes: nodes[f.Started], From: f.Started, To: end})
	}
	return out
}

// title says in one line what is wrong.
func title(s Story) string {
	name := cmp.Or(s.Finding.Name, s.Finding.ID, "violation")
	if s.Overlap.Length() > 0 && strings.Contains(name, "grant") {
		return fmt.Sprintf("%s: two holders of %s for at least %s", name, s.Finding.Key, unit.Millis(s.Overlap.Length()))
	}
	text, _, _ := strings.Cut(s.Finding.Text, ". ")
	if text = strings.TrimSuffix(text, "."); text == "" {
		return strings.TrimSpace(name + " on " + s.Finding.Key)
	}
	if strings.HasPrefix(strings.ToLower(text), strings.ToLower(name)) {
		return text
	}
	return name + ": " + text
}
