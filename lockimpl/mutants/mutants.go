// Package mutants holds the full lock with one planted bug each, in a copy of it
// that is made of its source and one patch. Every mutant
// says which anomaly it must show, and under which fault, before it is run: a
// harness that does not catch it misses a whole class of bugs.
package mutants

import (
	"maps"
	"reflect"
	"slices"

	"locktorture/lockimpl"
	"locktorture/lockimpl/mutants/internal/planted"
	"locktorture/lockimpl/redlock"
)

// A Mutant is the lock with one bug.
type Mutant struct {
	ID     string
	Bug    string   // what is wrong
	Fault  string   // the fault or the workload that shows it
	Expect []string // ids of the anomalies of which at least one must be found
	Nodes  int      // masters that it needs at least

	// Ability is the optional ability of the lock that the workload must use:
	// "" is Acquire.
	Ability string

	bugs   planted.Bugs
	adjust func(*redlock.Config)
}

// Factory returns a Factory of the mutant. Hints are off: they hide a broken
// core.
func (m Mutant) Factory(cfg redlock.Config) lockimpl.Factory {
	cfg = m.Config(cfg)
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		return planted.NewPlanted(nodes, configOfTheCopy(cfg), m.bugs)
	}
}

// configOfTheCopy is cfg for the copy of the lock, without its Observer: the
// copy's takes events of a type of its own.
func configOfTheCopy(cfg redlock.Config) (out planted.Config) {
	from, to := reflect.ValueOf(cfg), reflect.ValueOf(&out).Elem()
	for i := range from.NumField() {
		if from.Field(i).Type() == to.Field(i).Type() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return out
}

// Config is the configuration of the mutant and its twin where cfg is asked for.
func (m Mutant) Config(cfg redlock.Config) redlock.Config { return m.configured(withoutHints(cfg)) }

// Twin returns a Factory of the lock itself in the mutant's configuration.
func (m Mutant) Twin(cfg redlock.Config) lockimpl.Factory {
	return redlock.NewFactory(m.Config(cfg))
}

// Hinted is Twin with hints on.
func (m Mutant) Hinted(cfg redlock.Config) lockimpl.Factory {
	return redlock.NewFactory(m.configured(cfg))
}

// Copy returns a Factory of the copy of the lock that the mutants are made of,
// without a bug.
func (m Mutant) Copy(cfg redlock.Config) lockimpl.Factory {
	m.bugs = planted.Bugs{}
	return m.Factory(cfg)
}

func withoutHints(cfg redlock.Config) redlock.Config {
	cfg.NoProposals, cfg.NoGossip = true, true
	return cfg
}

func (m Mutant) configured(cfg redlock.Config) redlock.Config {
	if m.adjust != nil {
		m.adjust(&cfg)
	}
	return cfg
}

// All returns every mutant by its id.
func All() map[string]Mutant {
	all := map[string]Mutant{}
	for _, list := range [][]Mutant{leases(), undoing(), tokens(), memory(), modes()} {
		for _, m := range list {
			if m.Nodes == 0 {
				m.Nodes = 1
			}
			all[m.ID] = m
		}
	}
	return all
}

// IDs returns the ids in order.
func IDs() []string { return slices.Sorted(maps.Keys(All())) }
