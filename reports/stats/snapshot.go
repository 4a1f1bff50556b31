package stats

import (
	"maps"
	"time"

	"locktorture/checker"
	"locktorture/workload/history/coverage"
)

// A Snapshot is where a run stands: cheap enough to take several times a
// second.
type Snapshot struct {
	At       time.Duration // time of the last event
	Phase    string
	Outcomes Outcomes // since the run began
	P50      time.Duration
	P99      time.Duration
	Max      time.Duration
	LagP99   time.Duration
	Dropped  int64
	Keys     int // keys seen
	Held     int // of those, keys that somebody holds
	Faults   int // faults begun
	Active   []Active
	Used     coverage.Uses
	Grants   map[string]int64 // by worker, where workers have the clients
	Found    checker.Live     // by a judge that watches beside; the caller sets it
	Later    bool             // nobody judges before the run is over; the caller sets it
}

// An Active is a fault in force.
type Active struct {
	Name   string
	Target string
	Since  time.Duration
}

// Snapshot says where the run stands.
func (s *Stats) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := Snapshot{
		At: s.now, Phase: s.phase, Outcomes: s.total, Dropped: s.load.dropped,
		Keys: s.holds.who.Keys(), Held: s.holds.who.Held(s.now),
		Faults: len(s.faults.All()), Active: s.faults.inEffect(), Used: s.tally.Uses(), Grants: maps.Clone(s.grants),
	}
	if all := s.hists.all(Acquire); all != nil {
		snap.P50 = time.Duration(all.ValueAtPercentile(50))
		snap.P99 = time.Duration(all.ValueAtPercentile(99))
		snap.Max = time.Duration(all.Max())
	}
	if s.load.lag != nil {
		snap.LagP99 = time.Duration(s.load.lag.ValueAtPercentile(99))
	}
	return snap
}
