package catalogue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/lockimpl"
	"locktorture/lockimpl/child"
	"locktorture/workload/history"
	"locktorture/workload/store"
)

// A Lock is one entry of the catalogue: an implementation under the id by
// which people ask for it.
type Lock struct {
	ID       string
	About    string
	Category Category
	Nodes    int  // masters that it is made for
	AnyNodes bool // made for any other number as well, as far as its Factory says

	Sentinel bool // its client can ask Redis Sentinel for its master
	Cluster  bool // its client can be that of a Redis Cluster

	Acknowledged bool // what it writes counts once a replica has it: where there is none, it grants nothing

	Fences     bool         // issues fencing tokens: its store is fenced unless a scenario says otherwise
	Subscribes bool         // its waiters hear of releases by pub/sub
	Store      store.Policy // what its store does with older tokens, where fenced; empty: rejects them
	Child      bool         // lives in a process of its own, which alone knows what it can do
	Unchecked  bool         // a successful release does not prove that its owner still held

	Factory func(c config.Config) lockimpl.Factory
	Start   func(c config.Config) child.Starter   // builds a Child as Factory does, as long as its context lasts; nil of others
	Drift   func(ttl time.Duration) time.Duration // given up of the TTL; nil is none

	// WithClock builds the lock for a client whose wall clock is now; nil when
	// it trusts no client's clock.
	WithClock func(now func() time.Time) lockimpl.Factory

	// WithLinger builds the lock so that it calls linger before it sends what its goroutines
	// have for a node; nil when each of them sends its own.
	WithLinger func(c config.Config, linger func(node string)) lockimpl.Factory

	// LossWithin is by when after the lease's end its holder is told; nil when
	// that is not documented.
	LossWithin func(ttl time.Duration) time.Duration

	// UndoWithin is by when what a failed attempt took, and a lease that was given
	// back, are gone from a node that can be reached; nil when that is not
	// documented.
	UndoWithin func(ttl time.Duration) time.Duration

	// WakeWithin is by when somebody who waits for a key that is free has it; nil
	// when that is not documented.
	WakeWithin func(ttl time.Duration) time.Duration

	// WokenWithin is the same of a key that was given back while somebody waited for it,
	// whom the release wakes; nil when that is not documented.
	WokenWithin func(ttl time.Duration) time.Duration

	// Quarantine is how long the lock itself keeps a node out that came back
	// empty; nil when it lets it in at once.
	Quarantine func(c config.Config) time.Duration

	Expected    []string // the flaws that it is known for …
	AnyExpected bool     // … of which one is enough to catch it …
	ShownBy     string   // … the fault that shows them …
	CorrectedBy string   // … and the lock that has none of them
}

// Find returns the lock called id: one of these, or exec: and the command
// of a wrapper that speaks the protocol of children.
func (ls Locks) Find(id string) (Lock, error) {
	if command, ok := strings.CutPrefix(id, execPrefix); ok {
		return wrapped(id, command)
	}
	l, ok := ls[id]
	if !ok {
		ids := slices.Sorted(maps.Keys(ls))
		return Lock{}, fmt.Errorf("lock %q does not exist%s (torture list locks, or exec:COMMAND)", id, config.DidYouMean(id, ids))
	}
	return l, nil
}

// Masters is how many masters a run of c has.
func (l Lock) Masters(c config.Config) int {
	if len(c.Redis) > 0 {
		return len(c.Redis)
	}
	return cmp.Or(c.Nodes, l.Nodes)
}

// Clocked lists the locks that trust their clients' wall clocks.
func (ls Locks) Clocked() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(ls)), func(id string) bool { return ls[id].WithClock == nil })
}

// Promises enters into a history's header what the lock documents: by how much it
// gives up a lease early, and how soon it does what it does afterwards. Its TTL
// must be there.
func (l Lock) Promises(h *history.Header) {
	if l.Drift != nil {
		h.Drift = l.Drift(h.TTL)
	}
	if h.Bounds == nil {
		h.Bounds = map[string]int64{}
	}
	for name, within := range map[string]func(time.Duration) time.Duration{
		history.BoundLoss: l.LossWithin, history.BoundUndo: l.UndoWithin, history.BoundWake: l.WakeWithin, history.BoundWoken: l.WokenWithin,
	} {
		if within != nil {
			h.Bounds[name] = within(h.TTL).Nanoseconds()
		}
	}
	if l.Unchecked {
		h.OwnerCheckedRelease = new(bool)
	}
}
