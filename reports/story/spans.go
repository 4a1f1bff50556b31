package story

import (
	"cmp"
	"slices"
	"time"

	"locktorture/workload/history"
	"locktorture/workload/history/fold"
)

// believed rebuilds, from what clients were told, who held when.
func believed(events []history.Event, h history.Header) []Hold {
	var leases []*fold.Holding
	who := fold.NewHoldings(h)
	for i := range events {
		if c := who.Event(&events[i]); c.Step == fold.Granted {
			leases = append(leases, c.Holding)
		}
	}
	holds := make([]Hold, 0, len(leases))
	for _, x := range leases {
		holds = append(holds, Hold{
			Owner: x.Owner, Fence: x.Fence, Shared: x.Mode == history.Shared,
			Invoked: x.Began, From: x.Since, Deadline: x.Deadline, To: believedUntil(x), Released: x.Released,
		})
	}
	return holds
}

// believedUntil is until when a lease's owner believed that it held the lock.
func believedUntil(x *fold.Holding) time.Duration {
	if x.EndedBy == history.Release || x.EndedBy == history.Lost {
		return max(min(x.Ended, x.Deadline), x.Since)
	}
	return max(x.Deadline, x.Since)
}

// proved are the holds whose grants are part of the proof.
func proved(holds []Hold, witnesses []history.Event) (of []Hold) {
	for _, h := range holds {
		if slices.ContainsFunc(witnesses, func(e history.Event) bool {
			return e.Op == history.Acquire && e.Kind == history.OK && e.Owner == h.Owner && e.Time == h.From
		}) {
			of = append(of, h)
		}
	}
	return of
}

// overlap finds the longest stretch in which two of the owners held, not both
// of them shared.
func overlap(holds []Hold, owners []string) Overlap {
	var best Overlap
	for i, a := range holds {
		for _, b := range holds[i+1:] {
			if a.Owner == b.Owner || a.Shared && b.Shared || !slices.Contains(owners, a.Owner) || !slices.Contains(owners, b.Owner) {
				continue
			}
			one := Overlap{From: max(a.From, b.From), To: min(a.To, b.To), Owners: [2]string{a.Owner, b.Owner}}
			if one.Length() > best.Length() {
				best = one
			}
		}
	}
	return best
}

// lateness measures from the end of a lease until the write that completes the
// proof was issued, by the owner who had it.
func lateness(holds []Hold, events, witnesses []history.Event) Overlap {
	for _, e := range slices.Backward(witnesses) {
		if e.Op != history.Write || e.Kind == history.Invoke {
			continue
		}
		for _, h := range slices.Backward(holds) {
			if h.Owner == e.Owner && h.From <= e.Time {
				return Overlap{From: h.To, To: issued(e, events), Owners: [2]string{h.Owner}, Late: true}
			}
		}
	}
	return Overlap{}
}

// issued is when an operation was invoked, as far as that was kept.
func issued(e history.Event, events []history.Event) time.Duration {
	for _, inv := range slices.Backward(events) {
		if inv.Index < e.Index && inv.Process == e.Process && inv.Kind == history.Invoke && inv.Op == e.Op {
			return inv.Time
		}
	}
	return e.Time
}

// stored joins the witnesses' sightings at each node into stretches: a
// sighting counts until the next one, or until the node does not answer. A node may
// keep several keys for one resource, told apart by the note; one that never held
// anything is left out.
func stored(events []history.Event, end time.Duration) []Stored {
	byKey := map[string][]Stored{}
	var keys []string
	for _, e := range events {
		if e.Op != history.Key || e.Time > end {
			continue
		}
		if e.Kind != history.OK {
			for _, key := range keys {
				if seen := byKey[key]; seen[0].Node == e.Node {
					byKey[key] = next(seen, Stored{Node: e.Node, From: e.Time, Silent: true})
				}
			}
			continue
		}
		key := e.Node + " " + e.Note
		if len(byKey[key]) == 0 {
			keys = append(keys, key)
		}
		byKey[key] = next(byKey[key], Stored{Node: e.Node, Holder: holder(e), From: e.Time})
	}
	var out []Stored
	for _, key := range keys {
		seen := byKey[key]
		seen[len(seen)-1].To = end
		if slices.ContainsFunc(seen, func(s Stored) bool { return s.Holder != "" }) {
			out = append(out, seen...)
		}
	}
	slices.SortStableFunc(out, func(a, b Stored) int { return cmp.Compare(a.From, b.From) })
	return out
}

// next begins another stretch, unless it goes on with the same.
func next(seen []Stored, s Stored) []Stored {
	if n := len(seen); n > 0 {
		seen[n-1].To = s.From
		if seen[n-1].Holder == s.Holder && seen[n-1].Silent == s.Silent {
			return seen
		}
	}
	return append(seen, s)
}

// holder is the owner that a sighting shows; none for an absent key.
func holder(e history.Event) string {
	if e.HasAll(history.HasPTTL) && e.PTTL == -2 {
		return ""
	}
	return e.Holder
}

// writes lists the writes whose outcome is known, and which of them came late.
func writes(events []history.Event, holds []Hold) []Write {
	var out []Write
	for _, e := range events {
		if e.Op != history.Write || e.Kind != history.OK && !(e.Kind == history.Fail && e.HasAll(history.HasSeq)) {
			continue
		}
		w := Write{Owner: e.Owner, Fence: e.Fence, Time: e.Time, Accepted: e.Kind == history.OK, Late: true}
		for _, h := range holds {
			if h.Owner == e.Owner && e.Time >= h.From && e.Time <= h.To {
				w.Late = false
			}
		}
		for _, h := range holds {
			if h.Owner != e.Owner && h.Fence > e.Fence && e.Time >= h.From && e.Time <= h.To {
				w.Late = true
			}
		}
		out = append(out, w)
	}
	return out
}
