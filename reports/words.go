package reports

import (
	"cmp"
	"fmt"
	"strings"

	"locktorture/reports/unit"
)

// subject names what was tested: lock, masters, seed.
func (r *Run) subject() string {
	text := cmp.Or(r.Meta.Lock, r.Header.Lock, "lock")
	if n := r.Header.Nodes; n > 0 {
		text += fmt.Sprintf(" on %s", unit.Counted(n, "master"))
	}
	return text + ", seed " + unit.Seed(cmp.Or(r.Meta.Seed, r.Header.Seed))
}

// server names what the lock ran against.
func (r *Run) server() string {
	return strings.TrimSpace(r.Meta.Testbed.Name + " " + r.Meta.Testbed.Version)
}

// NotProved lists what a verdict of this kind does not show.
func (r *Run) NotProved() []string {
	out := []string{
		"That the lock is safe: a run shows that nothing went wrong under what was tried, no more.",
		"Anything about faults that were not injected, had no effect, or met no holder.",
		"That the same seed gives the same run: it fixes the draws, and real time does not repeat.",
		"Machines, networks and clocks other than this one: clients and nodes shared one host.",
	}
	if r.Meta.Testbed.Embedded {
		out = append(out, "Anything about Redis itself: the nodes were embedded look-alikes.")
	}
	if !r.Header.Fenced {
		out = append(out, "That data is safe without a fence: the store took every write, stale ones too.")
	}
	if r.measured().Find("acquire", "all").Count > 0 {
		out = append(out, "Latency and rate for production: load and servers shared the same cores, so figures compare runs on one machine.")
	}
	for _, left := range r.Meta.Testbed.LeftOut {
		out = append(out, "How it bears what was left out: "+left+".")
	}
	return out
}
