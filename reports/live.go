package reports

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"locktorture/reports/stats"
	"locktorture/reports/unit"
	"locktorture/workload/history"
	"locktorture/workload/history/printable"
)

// How often a run says how it goes, and for how long it is believed to be under way
// after it last did.
const (
	liveEvery = time.Second
	liveFor   = 10 * time.Second
)

// Live is live.json: the progress of a run that is under way. The file is deleted once there
// are results.
type Live struct {
	Written  time.Time     `json:"written"`
	At       time.Duration `json:"at_ns"` // since the run began
	Planned  time.Duration `json:"planned_ns,omitempty"`
	Judging  bool          `json:"judging,omitempty"` // the load is over
	Grants   int64         `json:"grants"`
	Errors   int64         `json:"errors,omitempty"`
	P99      time.Duration `json:"acquire_p99_ns,omitempty"`
	Faults   int           `json:"faults,omitempty"`   // begun
	Active   []string      `json:"in_force,omitempty"` // of them
	Findings int           `json:"findings,omitempty"` // violations so far
	First    string        `json:"first,omitempty"`    // of these, in a few words
}

// newLive is the progress of a run by a snapshot of its figures; planned is how long it should
// last.
func newLive(s stats.Snapshot, planned time.Duration, now time.Time) Live {
	l := Live{
		Written: now, At: s.At, Planned: planned, Judging: s.Phase == history.PhaseEnd,
		Grants: s.Outcomes.Acquired, Errors: s.Outcomes.Error, P99: s.P99, Faults: s.Faults,
		Findings: s.Found.Violations, First: s.Found.FirstHit,
	}
	for _, f := range s.Active {
		l.Active = append(l.Active, strings.TrimSpace(f.Name+" "+f.Target))
	}
	return l
}

// Words says how the run goes, in one line.
func (l Live) Words() string {
	words := []string{unit.Span(l.At)}
	if l.Planned > 0 {
		words[0] += " of " + unit.Span(l.Planned)
	}
	if l.Judging {
		words = append(words, "judging")
	}
	words = append(words, unit.Count(l.Grants)+" grants", "acquire p99 "+unit.Latency(l.P99), unit.Counted(l.Faults, "fault"))
	if len(l.Active) > 0 {
		words = append(words, "in force: "+strings.Join(l.Active, ", "))
	}
	if l.Findings > 0 {
		words = append(words, unit.Counted(l.Findings, "violation")+", the first: "+l.First)
	}
	return strings.Join(words, " · ")
}

// WriteLive writes the progress of the run into its directory, about once a second, until ctx
// ends. It ignores errors: those who write files that have to stay report them.
func WriteLive(ctx context.Context, dir string, planned time.Duration, snapshot func() stats.Snapshot) {
	tick := time.NewTicker(liveEvery)
	defer tick.Stop()
	path := filepath.Join(dir, LiveFile)
	defer func() { _ = os.Remove(path) }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		raw, err := json.Marshal(newLive(snapshot(), planned, time.Now()))
		if err != nil {
			continue
		}
		half := path + ".new"
		if os.WriteFile(half, append(printable.JSON(raw), '\n'), 0o600) != nil || os.Rename(half, path) != nil {
			_ = os.Remove(half)
		}
	}
}

// readLive reads the progress of the run in a directory; ok is false when the run is over, or
// has not written it for long.
func readLive(dir string, now time.Time) (l Live, ok bool, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, LiveFile))
	if err != nil {
		return Live{}, false, nil // most runs are over
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		return Live{}, false, fmt.Errorf("%s: %w", LiveFile, err)
	}
	return printable.Of(l), now.Sub(l.Written).Abs() <= liveFor, nil
}
