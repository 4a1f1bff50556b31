package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/lockimpl"
	"locktorture/lockimpl/gallery"
)

// A Lock is one entry of the catalogue: an implementation under the id by
// which people ask for it.
type Lock struct {
	ID    string
	About string
	Nodes int // masters that it is made for

	Fences    bool // issues fencing tokens: its store is fenced unless a scenario says otherwise
	Unchecked bool // a successful release does not prove that its owner still held

	Factory func(c config.Config) lockimpl.Factory
	Drift   func(ttl time.Duration) time.Duration // given up of the TTL; nil is none

	// WithClock builds the lock for a client whose wall clock is now; nil when
	// it trusts no client's clock.
	WithClock func(now func() time.Time) lockimpl.Factory

	// Quarantine is how long the lock itself keeps a node out that came back
	// empty; nil when it lets it in at once.
	Quarantine func(c config.Config) time.Duration

	Expected    []string // the flaws that it is known for …
	ShownBy     string   // … the fault that shows them …
	CorrectedBy string   // … and the lock that does without
}

// masters is how many a lock over a quorum runs on unless told otherwise.
const masters = 5

// Locks are all locks by id.
var Locks = catalogue()

func catalogue() map[string]Lock {
	all := map[string]Lock{
		"redlock": {About: "the full lock over N masters, fenced", Nodes: masters, Fences: true, Factory: full, Drift: lockimpl.Drift, Quarantine: quarantine},
		"single":  {About: "the full lock on one master, fenced", Nodes: 1, Fences: true, Factory: full, Drift: lockimpl.Drift, Quarantine: quarantine},
	}
	for _, r := range gallery.Recipes() {
		all[r.ID] = recipe(r)
	}
	for id, l := range all {
		l.ID = id
		all[id] = l
	}
	return all
}

func full(c config.Config) lockimpl.Factory {
	return lockimpl.NewFactory(lockimpl.Config{MaxTTL: c.TTL})
}

// quarantine is what the full lock's admission takes: a TTL, and the rounds
// that seed the node.
func quarantine(c config.Config) time.Duration { return c.TTL + c.TTL/4 }

func recipe(r gallery.Recipe) Lock {
	return Lock{
		About: r.Flaw, Nodes: r.Nodes, Unchecked: r.Unchecked,
		Factory:   func(config.Config) lockimpl.Factory { return r.Factory },
		WithClock: r.WithClock,
		Expected:  r.Expected, ShownBy: r.Needs, CorrectedBy: r.CorrectedBy,
	}
}

// FindLock returns the lock called id.
func FindLock(id string) (Lock, error) {
	l, ok := Locks[id]
	if !ok {
		ids := slices.Sorted(maps.Keys(Locks))
		return Lock{}, fmt.Errorf("lock %q does not exist%s (torture list locks)", id, config.DidYouMean(id, ids))
	}
	return l, nil
}

// nodes is how many masters the run has.
func (l Lock) nodes(c config.Config) int {
	if len(c.Redis) > 0 {
		return len(c.Redis)
	}
	return cmp.Or(c.Nodes, l.Nodes)
}

// clocked lists the locks that trust their clients' wall clocks.
func clocked() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(Locks)), func(id string) bool { return Locks[id].WithClock == nil })
}
