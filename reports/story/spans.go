package story

import (
	"slices"
	"time"

	"locktorture/workload/history"
)

// believed rebuilds, from what clients were told, who held when.
func believed(events []history.Event, h history.Header) []Hold {
	var holds []Hold
	open := map[int]history.Event{}
	last := func(owner string) *Hold {
		for i := range slices.Backward(holds) {
			if holds[i].Owner == owner {
				return &holds[i]
			}
		}
		return nil
	}
	for _, e := range events {
		began := e.Time
		if inv, ok := open[e.Process]; ok && inv.Op == e.Op && e.Kind != history.Invoke {
			began = inv.Time
		}
		hold := last(e.Owner)
		switch {
		case e.Op == history.Release && hold != nil:
			hold.release(e)
		case e.Op == history.Lost && hold != nil:
			hold.To = min(hold.To, e.Time)
		case e.Kind == history.Invoke:
		case e.Op == history.Acquire && e.Kind == history.OK:
			end := deadline(e, began, h)
			holds = append(holds, Hold{
				Owner: e.Owner, Fence: e.Fence, Shared: e.Mode == history.Shared,
				Invoked: began, From: e.Time, Deadline: end, To: max(end, e.Time),
			})
		case e.Op == history.Extend && e.Kind == history.OK && hold != nil:
			if end := deadline(e, began, h); end > hold.Deadline {
				hold.Deadline, hold.To = end, end
			}
		}
		if e.Kind == history.Invoke {
			open[e.Process] = e
		}
	}
	return holds
}

func (h *Hold) release(e history.Event) {
	if e.Kind == history.Invoke {
		h.To = max(min(h.To, e.Time), h.From)
		return
	}
	h.Released = e.Time
}

func deadline(e history.Event, began time.Duration, h history.Header) time.Duration {
	if e.HasAll(history.HasValidUntil) {
		return e.ValidUntil
	}
	return began + h.TTL - h.Drift
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

// lateness measures from the end of a lease to the write that completes the
// proof, by the owner who had it.
func lateness(holds []Hold, witnesses []history.Event) Overlap {
	for _, e := range slices.Backward(witnesses) {
		if e.Op != history.Write || e.Kind == history.Invoke {
			continue
		}
		for _, h := range slices.Backward(holds) {
			if h.Owner == e.Owner && h.From <= e.Time {
				return Overlap{From: h.To, To: e.Time, Owners: [2]string{h.Owner}, Late: true}
			}
		}
	}
	return Overlap{}
}

// stored joins the witnesses' sightings at each node into stretches: a
// sighting counts until the next one. A node may keep several keys for one
// resource, told apart by the note; one that never held anything is left out.
func stored(events []history.Event, end time.Duration) []Stored {
	var out []Stored
	last := map[string]int{}
	used := map[string]bool{}
	var names []string // of each stretch, its key at its node
	for _, e := range events {
		if e.Op != history.Key || e.Kind != history.OK || e.Time > end {
			continue
		}
		holder, name := e.Holder, e.Node+" "+e.Note
		if e.HasAll(history.HasPTTL) && e.PTTL == -2 {
			holder = ""
		}
		used[name] = used[name] || holder != ""
		if i, ok := last[name]; ok {
			out[i].To = e.Time
			if out[i].Holder == holder {
				continue
			}
		}
		last[name] = len(out)
		names = append(names, name)
		out = append(out, Stored{Node: e.Node, Holder: holder, From: e.Time})
	}
	for _, i := range last {
		out[i].To = end
	}
	kept := out[:0]
	for i, s := range out {
		if used[names[i]] {
			kept = append(kept, s)
		}
	}
	return kept
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
