package story

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locktorture/reports/stats"
	"locktorture/workload/history"
	"locktorture/workload/history/fold"
)

// Beside its witnesses a story names a few faults and writes around them.
const (
	maxFaultSteps = 3
	maxWriteSteps = 3
)

// story makes the story of one violation.
func (c *Collector) story(n int, k *collected) Story {
	s := Story{ID: fmt.Sprintf("M-%d", n), Finding: k.finding}
	s.Why, s.Remedy = cmp.Or(k.finding.What, k.finding.Text), k.finding.Remedy
	s.Events = append(slices.Clone(k.before), k.within...)
	witnesses := k.witnesses(c.nemesis)
	s.Holds = believed(s.Events, c.header)
	owners := involved(k.finding.Owners, witnesses)
	if s.Overlap = overlap(proved(s.Holds, witnesses), owners); s.Overlap.Length() == 0 {
		s.Overlap = overlap(s.Holds, owners)
	}
	if s.Overlap.Length() == 0 {
		s.Overlap = lateness(s.Holds, s.Events, witnesses)
	}
	s.From, s.To = extent(witnesses, s.Holds, owners)
	margin := max((s.To-s.From)/10, 5*time.Millisecond)
	s.From, s.To = max(s.From-margin, 0), s.To+margin
	s.Stored = named(stored(s.Events, s.To), ownersOf(s.Events, s.Holds))
	s.Writes = writes(s.Events, s.Holds)
	nemesis := relevant(c.nemesis, owners)
	s.Faults = nearby(nemesis, s.From-c.header.TTL, s.To)
	s.Steps = steps(c.chosen(nemesis, witnesses, s), s.Faults)
	s.Holds = slices.DeleteFunc(s.Holds, func(h Hold) bool {
		return max(h.To, h.Released) < s.From || h.From > s.To || !slices.Contains(owners, h.Owner)
	})
	s.Writes = slices.DeleteFunc(s.Writes, func(w Write) bool {
		return w.Time < s.From || w.Time > s.To || !slices.Contains(owners, w.Owner)
	})
	s.Events = around(s.Events, c.nemesis, s.From, s.To)
	s.Title = title(s, witnesses, owners)
	return s
}

// witnesses are the events that prove the violation, in order.
func (k *collected) witnesses(nemesis []history.Event) []history.Event {
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

// extent spans the witnesses, and the holds that they speak of.
func extent(witnesses []history.Event, holds []Hold, owners []string) (from, to time.Duration) {
	for i, e := range witnesses {
		if i == 0 {
			from = e.Time
		}
		from, to = min(from, e.Time), max(to, e.Time)
	}
	first, last := from, to
	for _, h := range holds {
		if slices.Contains(owners, h.Owner) && h.From <= last && max(h.To, h.Released) >= first {
			from, to = min(from, h.Invoked), max(to, h.To, h.Released)
		}
	}
	return from, to
}

// relevant keeps what may have had a part in it: faults that hit nodes, and
// those that hit one of the owners' clients.
func relevant(nemesis []history.Event, owners []string) []history.Event {
	var out []history.Event
	for _, e := range nemesis {
		hit := func(owner string) bool { return slices.Contains(e.Target.Clients, stats.ClientOf(owner)) }
		if e.Target == nil || len(e.Target.Clients) == 0 || slices.ContainsFunc(owners, hit) {
			out = append(out, e)
		}
	}
	return out
}

// chosen adds to the witnesses the faults that began or ended shortly before,
// and the writes made while two held.
func (c *Collector) chosen(nemesis, witnesses []history.Event, s Story) []history.Event {
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
	for _, e := range slices.Backward(nemesis) {
		if faults < maxFaultSteps && e.Op == history.Fault && e.Kind != history.Invoke && e.Time >= s.From-c.header.TTL && e.Time <= end && add(e) {
			faults++
		}
	}
	for _, e := range s.Events {
		within := s.Overlap.Length() > 0 && !s.Overlap.Late && e.Time >= s.Overlap.From && e.Time <= s.Overlap.To
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
	var log fold.FaultLog
	for i := range nemesis {
		log.Event(&nemesis[i])
	}
	var out []Fault
	for _, f := range log.All() {
		end := f.End()
		if f.Started == fold.Never || f.Started > to || end != fold.Never && end < from {
			continue
		}
		if end == fold.Never {
			end = to
		}
		one := Fault{Name: f.Name, Target: stats.TargetText(f.Target), From: f.Started, To: end, Receipts: f.Receipts}
		if f.Target != nil {
			one.Nodes = f.Target.Nodes
		}
		out = append(out, one)
	}
	return out
}
