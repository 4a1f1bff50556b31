// Package catalogue lists the locks that can be played: the full lock, published
// recipes, mutants and their controls, libraries, and any wrapper by its command.
package catalogue

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/lockimpl"
	"locktorture/lockimpl/gallery"
	"locktorture/lockimpl/mutants"
	"locktorture/lockimpl/redlock"
	"locktorture/workload/store"
)

// A Category is what kind of lock an entry of the catalogue is.
type Category string

// The categories, in the order in which they are listed.
const (
	Full      Category = "full locks"
	Recipes   Category = "recipes that people copy"
	Mutants   Category = "the full lock with one bug planted"
	Controls  Category = "the full lock as a mutant is configured, without the bug"
	Libraries Category = "libraries that people use"
	Own       Category = "your own"
)

// Categories are all of them.
var Categories = []Category{Full, Recipes, Mutants, Controls, Libraries, Own}

// Masters is how many a lock over a quorum runs on unless told otherwise.
const Masters = 5

// Locks are the locks that can be played, by id.
type Locks map[string]Lock

// Builtin are the locks that come with the tool.
func Builtin() Locks {
	all := Locks{}
	put := func(id string, l Lock) { l.ID = id; all[id] = l }
	put("redlock", fullLock("the full lock over N masters, fenced", Masters, full))
	put("single", fullLock("the full lock on one master, fenced", 1, full))
	for _, r := range gallery.Recipes() {
		put(r.ID, recipe(r))
	}
	for id, m := range mutants.All() {
		put(id, mutant(m))
		put(id+twinSuffix, twinOf(m))
	}
	put("store-accepts-older", forgivingStore())
	for id, l := range libraries() {
		put(id, l)
	}
	return all
}

// With returns the locks and one more, of the program that this tool is part of.
// Its id must be new, and fit for a command line.
func (ls Locks) With(id string, f lockimpl.Factory) (Locks, error) {
	switch _, taken := ls[id]; {
	case !idPattern.MatchString(id):
		return nil, fmt.Errorf("lock %q: an id is letters, digits, dots, dashes and underscores, and begins with a letter or digit", id)
	case taken:
		return nil, fmt.Errorf("lock %q exists already: choose another id (torture list locks)", id)
	case f == nil:
		return nil, fmt.Errorf("lock %q: its factory is nil", id)
	}
	all := maps.Clone(ls)
	all[id] = Lock{
		ID: id, About: "given by this program", Category: Own, Nodes: 1, AnyNodes: true, Sentinel: true, Cluster: true,
		Factory: func(config.Config) lockimpl.Factory { return f },
	}
	return all, nil
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// In returns the locks of one category: recipes in the order in which they
// improved on one another, others by id.
func (ls Locks) In(c Category) []Lock {
	var ids []string
	if c == Recipes {
		for _, r := range gallery.Recipes() {
			ids = append(ids, r.ID)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(ls)) {
		if ls[id].Category == c && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	locks := make([]Lock, len(ids))
	for i, id := range ids {
		locks[i] = ls[id]
	}
	return locks
}

func full(c redlock.Config) lockimpl.Factory { return redlock.NewFactory(c) }

// fullLock is the full lock, or something that is built like it.
func fullLock(about string, nodes int, build func(redlock.Config) lockimpl.Factory) Lock {
	lingering := func(c config.Config, linger func(node string)) lockimpl.Factory {
		return build(redlock.Config{MaxTTL: c.TTL, FirstTime: true, Prefix: SharedPrefix(c), Linger: linger})
	}
	return configured(func(c redlock.Config) redlock.Config { return c }, Lock{
		About: about, Category: Full, Nodes: nodes, Fences: true, Subscribes: true, Drift: redlock.Drift, Quarantine: quarantine,
		Factory:    func(c config.Config) lockimpl.Factory { return lingering(c, nil) },
		WithLinger: lingering,
	})
}

// configured says of the full lock what its documentation promises for a configuration,
// which may depend on the lease: an exchange with a node takes no longer than NodeTimeout,
// what was not answered is sent again, a release wakes who waits, and a dead waiter holds up
// the others for Patience at most.
func configured(of func(redlock.Config) redlock.Config, l Lock) Lock {
	promised := func(ttl time.Duration) (exchange, patience time.Duration) {
		c := of(redlock.Config{MaxTTL: ttl})
		return cmp.Or(c.NodeTimeout, 500*time.Millisecond), cmp.Or(c.Patience, 500*time.Millisecond)
	}
	l.UndoWithin = func(ttl time.Duration) time.Duration {
		exchange, _ := promised(ttl)
		return 2 * exchange
	}
	l.WakeWithin = func(ttl time.Duration) time.Duration {
		exchange, patience := promised(ttl)
		return exchange + patience
	}
	l.WokenWithin = func(ttl time.Duration) time.Duration { // to hear of the release, and to ask
		exchange, _ := promised(ttl)
		return exchange + exchange/2
	}
	return l
}

// SharedPrefix begins the names of the keys that the full lock shares among
// resources, on the servers of c.
func SharedPrefix(c config.Config) string { return c.Prefix + redlock.DefaultPrefix }

// quarantine is what the full lock's admission takes: a TTL, and the rounds
// that seed the node.
func quarantine(c config.Config) time.Duration { return c.TTL + c.TTL/4 }

func recipe(r gallery.Recipe) Lock {
	return Lock{
		About: r.Flaw, Category: Recipes, Nodes: r.Nodes, Unchecked: r.Unchecked, Subscribes: r.Subscribes,
		Sentinel: r.Nodes == 1, Cluster: r.Nodes == 1 && !r.Acknowledged && !r.CrossSlot, Acknowledged: r.Acknowledged,
		Factory:   func(config.Config) lockimpl.Factory { return r.Factory },
		WithClock: r.WithClock,
		Expected:  r.Expected, ShownBy: r.Needs, CorrectedBy: r.CorrectedBy,
	}
}

// twinSuffix makes a mutant's id that of the lock without its bug.
const twinSuffix = "-twin"

// lossBound is how long after the lease's deadline the full lock may report a loss: it
// promises to do so at the deadline, and a busy machine schedules late.
func lossBound(ttl time.Duration) time.Duration { return max(ttl/5, 300*time.Millisecond) }

func mutant(m mutants.Mutant) Lock {
	l := configured(m.Config, fullLock(m.Bug, m.Nodes, m.Factory))
	l.LossWithin = lossBound
	l.Category, l.Expected, l.AnyExpected, l.ShownBy, l.CorrectedBy = Mutants, m.Expect, true, m.Fault, m.ID+twinSuffix
	return l
}

func twinOf(m mutants.Mutant) Lock {
	l := configured(m.Config, fullLock("the full lock as "+m.ID+" is configured, without its bug", m.Nodes, m.Twin))
	l.Category, l.LossWithin = Controls, lossBound
	return l
}

// forgivingStore is the full lock in front of a store with a bug.
func forgivingStore() Lock {
	l := fullLock("the lock is sound; the guarded store accepts older tokens", 1, full)
	l.Category, l.Store, l.Expected, l.CorrectedBy = Mutants, store.AcceptOlder, []string{"S2"}, "single"
	l.ShownBy = "pause the holder beyond the TTL: its late write comes with an older token"
	return l
}
