// Package anomaly is the catalogue of what can be wrong with a lock, with the
// store that it guards, or with the run that tests them: one table, which the
// judge, the reports and `torture list anomalies` read.
//
// S are about safety, R about the store's own word, L about liveness, P about a
// lock that breaks down, H about the harness, and V about missing evidence.
package anomaly

import "slices"

// An Anomaly is one entry of the catalogue.
type Anomaly struct {
	ID       string
	Name     string   // the field's words
	Property Property // that it breaks; none where it is not about the lock
	Meaning  string   // one sentence to somebody who has never seen the catalogue

	// Title says of one case what happened: {actor} broke the rule, {other} was
	// hit by it, on {key}. OtherTitle is that of its second sort, where it has
	// one. Without a title the name stands for it.
	Title, OtherTitle string

	Actor  Actor  // who of a proof broke the rule
	Remedy string // of the lock, the store or their user
	Advice string // what gives the evidence that is missing
	Traits Trait
}

// A Property is what a lock, or the store behind it, is meant to have.
type Property string

// The properties that are judged.
const (
	Exclusion Property = "exclusion"
	Fencing   Property = "fencing"
	Tokens    Property = "tokens"
	Ownership Property = "ownership"
	Liveness  Property = "liveness"
	Leftovers Property = "leftovers"
)

// Properties lists the properties, in the order in which reports show them.
func Properties() []Property {
	return []Property{Exclusion, Fencing, Tokens, Ownership, Liveness, Leftovers}
}

// An Actor says which event of a proof is that of the one who broke the rule.
type Actor int

// The events that tell who broke the rule.
const (
	LastEvent  Actor = iota // the last, which completes the proof
	Releaser                // the release
	LowerToken              // the one with the lower token
	Intruder                // of three or more, the one between the first owner's
)

// Traits of an anomaly, which say what else decides whether it stands.
type Trait uint8

// The traits.
const (
	ComparesTimes Trait = 1 << iota // a harness that lags voids it (V4)
	NeedsHealth                     // trouble of the harness can bring it about by itself, by renewals and requests that are late
	Service                         // a bound of service that was missed, and no violation
	Bookkeeping                     // in a run of ours, whose store is ours, a harness error
)

// All returns the catalogue, in its order.
func All() []Anomaly { return slices.Clone(table) }

// Find returns the anomaly with that id; ok is false for an unknown one.
func Find(id string) (a Anomaly, ok bool) {
	i := slices.IndexFunc(table, func(a Anomaly) bool { return a.ID == id })
	if i < 0 {
		return Anomaly{}, false
	}
	return table[i], true
}

// Name returns the anomaly's name, or "" for an unknown id.
func Name(id string) string {
	a, _ := Find(id)
	return a.Name
}

// Has says whether the anomaly has the trait.
func Has(id string, t Trait) bool {
	a, _ := Find(id)
	return a.Traits&t != 0
}

// IDs returns the ids of all anomalies, in the order of the catalogue.
func IDs() []string { return pick(func(Anomaly) bool { return true }) }

// With returns the ids of the anomalies that have the trait.
func With(t Trait) []string { return pick(func(a Anomaly) bool { return a.Traits&t != 0 }) }

// Of returns the ids of the anomalies that break the property.
func Of(p Property) []string { return pick(func(a Anomaly) bool { return a.Property == p }) }

func pick(wanted func(Anomaly) bool) (ids []string) {
	for _, a := range table {
		if wanted(a) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}
