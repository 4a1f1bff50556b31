package reports

import (
	"fmt"
	"time"

	"locktorture/reports/unit"
)

// A Worker is a process that had some of a run's clients. What is known of its clock is
// so for the time at which the run was judged.
type Worker struct {
	Name     string        `json:"name"`
	Host     string        `json:"host"`
	PID      int           `json:"pid"`
	Clients  []string      `json:"clients"`
	Events   int           `json:"events,omitempty"`             // taken in
	Whole    bool          `json:"whole,omitempty"`              // these are all that it recorded
	Epsilon  time.Duration `json:"epsilon_ns,omitempty"`         // by how much its times may be off
	Offset   time.Duration `json:"offset_ns,omitempty"`          // its clock less the coordinator's
	Drift    float64       `json:"drift,omitempty"`              // by which that grows, as a share
	DriftOff float64       `json:"drift_off,omitempty"`          // by how much Drift may be off
	Stepped  time.Duration `json:"stepped_ns,omitempty"`         // by how much its clock was moved; 0: it was not
	Readings int           `json:"readings,omitempty"`           // of its clock
	Late50   time.Duration `json:"events_late_p50_ns,omitempty"` // half of its events came no later than so long after they happened
	Late99   time.Duration `json:"events_late_p99_ns,omitempty"`
	Lost     string        `json:"lost,omitempty"` // why it was lost
	Returned bool          `json:"returned,omitempty"`
}

// String is the worker in words: what it had, how well its clock is known, and how soon
// its events came to faults that wait for them.
func (w Worker) String() string {
	text := fmt.Sprintf("%s on %s", w.Name, w.Host)
	if n := len(w.Clients); n > 0 {
		text += fmt.Sprintf(": %s to %s", w.Clients[0], w.Clients[n-1])
	}
	text += fmt.Sprintf(" · %s events", unit.Count(w.Events))
	if w.Readings > 0 {
		text += fmt.Sprintf(" · clock known to ±%s by %d readings, drift %+.0f ± %.0f ppm · events came after p50 %s, p99 %s",
			unit.Latency(w.Epsilon), w.Readings, w.Drift*1e6, w.DriftOff*1e6, unit.Latency(w.Late50), unit.Latency(w.Late99))
	}
	if w.Lost != "" {
		text += " · lost"
	}
	return text
}
