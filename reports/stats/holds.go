package stats

import (
	"time"

	"locktorture/workload/history"
)

// maxHolds bounds how many owners of one key are remembered.
const maxHolds = 64

// holds follows who holds what, to measure margins and to warn live. Its
// warnings are hints for the eye: the checker decides.
type holds struct {
	header history.Header
	keys   map[string]*keyState
	margin margins
	alarms Alarms
}

// Alarms counts what looks wrong while a run is under way.
type Alarms struct {
	Double      int64 `json:"double_grants"`
	Stale       int64 `json:"stale_accepted"`
	Saves       int64 `json:"fence_saves"`
	Regressions int64 `json:"token_regressions"`
	First       int   `json:"first"` // index of the first event that raised one of Double, Stale, Regressions; -1 without
}

type keyState struct {
	holds    []*hold
	ended    time.Duration // when the last hold that is over ended
	owner    string        // whose it was
	fence    uint64        // greatest token granted …
	granted  time.Duration // … and when
	accepted uint64        // greatest token that the store accepted …
	seq      uint64        // … and at which sequence number
}

type hold struct {
	owner     string
	shared    bool
	depth     int // re-entries
	start     time.Duration
	deadline  time.Duration
	lastWrite time.Duration
	writes    int
	over      bool
}

func (h *holds) key(name string) *keyState {
	k := h.keys[name]
	if k == nil {
		k = &keyState{ended: Never}
		h.keys[name] = k
	}
	return k
}

func (k *keyState) find(owner string) *hold {
	for _, one := range k.holds {
		if one.owner == owner {
			return one
		}
	}
	return nil
}

// invoke ends the hold that a release gives up.
func (h *holds) invoke(e *history.Event) {
	if e.Op == history.Release {
		h.end(e)
	}
}

func (h *holds) complete(e *history.Event, inv invocation) {
	switch {
	case e.Op == history.Acquire && e.Kind == history.OK:
		h.grant(e, inv)
	case e.Op == history.Extend && e.Kind == history.OK:
		if one := h.key(e.Key).find(e.Owner); one != nil {
			one.deadline = max(one.deadline, h.deadline(e, inv))
		}
	case e.Op == history.Lost:
		h.end(e)
	case e.Op == history.Write:
		h.write(e)
	}
}

// deadline is what the lock promised, or what the asked-for lease implies.
func (h *holds) deadline(e *history.Event, inv invocation) time.Duration {
	if e.HasAll(history.HasValidUntil) {
		return e.ValidUntil
	}
	return inv.time + h.header.TTL - h.header.Drift
}

func (h *holds) grant(e *history.Event, inv invocation) {
	k := h.key(e.Key)
	one := k.find(e.Owner)
	if one != nil && !one.over && one.deadline > e.Time {
		one.depth++
		one.deadline = max(one.deadline, h.deadline(e, inv))
		return
	}
	h.met(k, e)
	if e.Fence != 0 && e.Mode == history.Exclusive {
		if e.Fence <= k.fence && k.granted < inv.time {
			h.raise(&h.alarms.Regressions, e)
		}
		if e.Fence > k.fence {
			k.fence, k.granted = e.Fence, e.Time
		}
	}
	k.remove(e.Owner)
	k.holds = append(k.holds, &hold{
		owner: e.Owner, shared: e.Mode == history.Shared, depth: 1, start: inv.time, deadline: h.deadline(e, inv),
	})
	if len(k.holds) > maxHolds {
		k.holds = k.holds[1:]
	}
}

// met measures the gap to the holds before, and notices those that still last.
func (h *holds) met(k *keyState, e *history.Event) {
	double := false
	for _, one := range k.holds {
		if one.over || one.owner == e.Owner {
			continue
		}
		if one.deadline <= e.Time || !(one.shared && e.Mode == history.Shared) {
			if one.deadline > k.ended {
				k.ended, k.owner = one.deadline, one.owner
			}
			double = double || one.deadline > e.Time+h.header.Epsilon
		}
		if one.deadline <= e.Time {
			h.margin.finish(one)
		}
	}
	if double {
		h.raise(&h.alarms.Double, e)
	}
	if k.ended != Never && k.owner != e.Owner {
		h.margin.gap.add(e.Time - k.ended)
	}
}

// end closes the hold that a release or a reported loss ends.
func (h *holds) end(e *history.Event) {
	k := h.key(e.Key)
	one := k.find(e.Owner)
	if one == nil || one.over {
		return
	}
	if one.depth--; one.depth > 0 && e.Op == history.Release {
		return
	}
	if end := min(e.Time, one.deadline); end > k.ended {
		k.ended, k.owner = end, one.owner
	}
	h.margin.finish(one)
	k.remove(e.Owner)
}

func (k *keyState) remove(owner string) {
	for i, one := range k.holds {
		if one.owner == owner {
			k.holds = append(k.holds[:i], k.holds[i+1:]...)
			return
		}
	}
}

func (h *holds) write(e *history.Event) {
	k := h.key(e.Key)
	switch {
	case e.Kind == history.Fail && e.HasAll(history.HasSeq):
		h.alarms.Saves++
	case e.Kind == history.OK && e.HasAll(history.HasSeq) && e.Fence != 0:
		if h.header.Fenced && e.Fence < k.accepted && e.Seq > k.seq {
			h.raise(&h.alarms.Stale, e)
		}
		if e.Fence > k.accepted {
			k.accepted, k.seq = e.Fence, e.Seq
		}
	}
	if one := k.find(e.Owner); one != nil && e.Kind == history.OK {
		one.lastWrite = e.Time
		one.writes++
	}
}

func (h *holds) raise(counter *int64, e *history.Event) {
	if h.alarms.Double+h.alarms.Stale+h.alarms.Regressions == 0 {
		h.alarms.First = e.Index
	}
	*counter++
}

// held counts the keys that somebody holds at time t.
func (h *holds) held(t time.Duration) int {
	n := 0
	for _, k := range h.keys {
		for _, one := range k.holds {
			if !one.over && one.deadline > t {
				n++
				break
			}
		}
	}
	return n
}
