// Package search looks for what breaks a lock, among short rounds of load and
// faults. It knows nothing of what plays them: an Executor does.
//
// The first rounds are a swarm: each draws for itself which faults exist, how
// often they come, which modes of the lock are used and how busy its keys are,
// since what a configuration leaves out lets the rest go deeper (Groce et al.,
// "Swarm Testing", ISSTA 2012). Others are aimed at cells of phase × fault
// class that few rounds have reached, have steps of the standard plan, or are drawn by a
// pattern: what leases and quorums are known to break by needs several things at once. Rounds that reached new ground, cells of phase ×
// fault class, states, or nearer misses, become a corpus of which later ones are
// mutants and crossings, the rarest ground first (Böhme et al., "Coverage-based
// Greybox Fuzzing as Markov Chain", CCS 2016; what to count as ground for a
// distributed system: Meng et al., "Greybox Fuzzing of Distributed Systems", CCS
// 2023). What is found is made small by delta debugging (Shrinker).
package search

import (
	"context"
	"maps"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/faults"
)

// A Round is one short run as a value: played twice, it has the same load and the
// same faults, though not the same timing of threads and packets.
type Round struct {
	Seed     uint64        `json:"seed"`
	Clients  int           `json:"clients"`
	TTL      time.Duration `json:"ttl_ns"`
	Duration time.Duration `json:"duration_ns"` // of the main phase
	Load     config.Load   `json:"load"`
	Steps    []faults.Spec `json:"steps"`
	Origin   Origin        `json:"origin"`
}

// An Origin is how a round was made.
type Origin string

// The origins.
const (
	Swarm     Origin = "swarm"
	Aimed     Origin = "aimed"
	Standard  Origin = "standard"  // steps of the standard plan
	Patterned Origin = "patterned" // things that come together, as patterns have them
	Mutated   Origin = "mutated"
	Crossed   Origin = "crossed"
	Shrunk    Origin = "shrunk"
	Scheduled Origin = "scheduled" // one order of messages among all
	Scouted   Origin = "scouted"   // suggested by somebody who has seen it show something elsewhere
)

// Over lays the round over a scenario.
func (r Round) Over(c config.Config) config.Config {
	c.Seed, c.Clients, c.TTL, c.Duration, c.Load = r.Seed, r.Clients, r.TTL, r.Duration, r.Load
	c.Faults = config.Faults{Plan: "none"}
	if len(r.Steps) > 0 {
		c.Faults = config.Faults{Steps: slices.Clone(r.Steps)}
	}
	return c
}

// Count is how many steps the round's faults are, a repeated one as often as it
// comes.
func (r Round) Count() (n int) {
	for _, s := range r.Steps {
		n += max(1, s.Times)
	}
	return n
}

// clone is a round whose steps may be changed.
func (r Round) clone() Round {
	r.Steps = slices.Clone(r.Steps)
	return r
}

// A Finding is one thing that a round proved against the lock.
type Finding struct {
	ID    string        `json:"id"`
	Name  string        `json:"name,omitempty"`
	Blame string        `json:"blame,omitempty"`
	Phase string        `json:"phase,omitempty"` // of the lock's life, at the proof's last event
	Fault string        `json:"fault,omitempty"` // class of the fault that was in force then; empty: none
	Text  string        `json:"text,omitempty"`
	At    time.Duration `json:"at_ns,omitempty"` // of the proof's last event, since the run began; 0: unknown

	Operations int `json:"operations,omitempty"` // begun by clients until then
}

// Key tells findings apart: what is proved, who broke its word, in which phase and
// under which class of fault.
func (f Finding) Key() string { return f.ID + "|" + f.Blame + "|" + f.Phase + "|" + f.Fault }

// Same reports whether g shows what f does, whatever it happened under: what
// shrinking must keep.
func (f Finding) Same(g Finding) bool { return f.ID == g.ID && f.Blame == g.Blame }

// An Outcome is what one round showed.
type Outcome struct {
	Cells      []string           `json:"cells,omitempty"`  // phase × fault class that were met
	States     []string           `json:"states,omitempty"` // of the lock's life, with what was in force
	Near       map[string]float64 `json:"near,omitempty"`   // near misses by name: the smaller, the nearer
	Fired      map[string]bool    `json:"fired,omitempty"`  // by the moment of a step: whether it came
	Idle       map[string]int     `json:"idle,omitempty"`   // faults that came never, or changed nothing, as "fault: why", and how many did
	Findings   []Finding          `json:"findings,omitempty"`
	Suspected  []Finding          `json:"suspected,omitempty"`  // what is not proved, such as by times of a machine that stood still
	Stalled    time.Duration      `json:"stalled_ns,omitempty"` // the longest time for which the machine stood still
	Void       string             `json:"void,omitempty"`       // why it says nothing: trouble of the harness, or a machine too busy
	Operations int                `json:"operations,omitempty"`
	Took       time.Duration      `json:"took_ns,omitempty"`
	Run        string             `json:"run,omitempty"`    // where its record lies; empty: not kept
	Task       string             `json:"task,omitempty"`   // of a farm: each is played once
	Worker     string             `json:"worker,omitempty"` // of that farm
}

// shows reports whether the outcome has a finding like f.
func (o Outcome) shows(f Finding) bool { return slices.ContainsFunc(o.Findings, f.Same) }

// species are all that the outcome reached, in a fixed order.
func (o Outcome) species() []string {
	all := map[string]bool{}
	for _, c := range o.Cells {
		all["cell "+c] = true
	}
	for _, s := range o.States {
		all["state "+s] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// An Executor plays rounds. It may be asked to play several at once.
type Executor interface {
	// Fits says why a round cannot be played; nil: it can.
	Fits(r Round) error

	// Play plays a round to its end. What goes wrong is in the outcome.
	Play(ctx context.Context, r Round) Outcome
}
