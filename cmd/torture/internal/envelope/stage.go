package envelope

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/search"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/reports"
	"locktorture/reports/envelope"
	"locktorture/reports/stats"
	"locktorture/workload/history"
)

// A stage is where rounds are played.
type stage interface {
	setup() (masters int, fenced bool)
	fits(r search.Round) error
	play(ctx context.Context, r search.Round) outcome
	atOnce() int
	servers() string // of which the figures are; "" in virtual time
}

// stage is where the lock can be played, or says why it cannot.
func (c Config) stage() (stage, error) {
	lock, err := c.Catalogue.Find(c.Lock)
	if err != nil {
		return nil, fmt.Errorf("--lock: %w", err)
	}
	if c.OnRedis {
		return newRealServers(c, lock)
	}
	p := &simulate.Player{Lock: lock, Nodes: c.Masters, Even: true}
	if err := p.Supports(); err != nil {
		return nil, fmt.Errorf("--lock %s: %w", c.Lock, err)
	}
	return virtual{p}, simulate.SelfCheck()
}

// An outcome is what a round came to. Of one that is void no cell knows anything.
type outcome struct {
	void    string // why: the harness was in trouble, or lagged
	summary *stats.Summary
	report  checker.Report
}

// safety counts the proved violations of safety.
func (o outcome) safety() map[string]int {
	found := map[string]int{}
	for _, f := range o.report.Violations {
		if strings.HasPrefix(f.ID, "S") {
			found[f.ID]++
		}
	}
	return found
}

// addTo adds a round to its cell.
func (o outcome) addTo(cell *envelope.Cell) {
	if o.void != "" {
		cell.AddVoid(o.void, o.safety())
		return
	}
	cell.Rounds++
	for _, f := range o.summary.Faults {
		if f.TookEffect {
			cell.Faults++
		}
	}
	cell.Saves += o.report.Evidence.FenceSaves
	cell.Add(o.safety())
	cell.Offered, cell.Served = cell.Offered+o.summary.Demand.Offered, cell.Served+o.summary.Demand.Served
	cell.Longest = max(cell.Longest, o.summary.Fairness.LongestWait)
}

// virtual plays in virtual time, one round after the other.
type virtual struct{ p *simulate.Player }

func (v virtual) setup() (int, bool)        { return v.p.Masters(), v.p.Lock.Fences }
func (v virtual) fits(r search.Round) error { return v.p.Fits(r) }
func (v virtual) atOnce() int               { return 1 }
func (v virtual) servers() string           { return "" }

func (v virtual) play(ctx context.Context, r search.Round) outcome {
	var measured *stats.Stats
	v.p.Watch = func() []history.Sink {
		measured = stats.New(history.Header{TTL: r.TTL})
		return []history.Sink{measured}
	}
	res := v.p.Play(ctx, r)
	if res.Err != nil {
		return outcome{void: history.OneLine(res.Err.Error())}
	}
	return outcome{summary: measured.Summary(), report: res.Report}
}

// A Player plays one run on real servers.
type Player func(ctx context.Context, c config.Config, o run.Options) (*reports.Run, error)

// realServers plays rounds on servers of their own each, several at once.
type realServers struct {
	base config.Config
	lock catalogue.Lock
	on   Player
	jobs int

	mu   sync.Mutex
	told string
}

func newRealServers(c Config, lock catalogue.Lock) (*realServers, error) {
	base, err := config.Base("calm")
	base.Scenario, base.Lock, base.Nodes, base.Out = "envelope", c.Lock, c.Masters, c.Out
	base.Floors, base.PerMinute, base.Faults = map[string]int{}, nil, config.Faults{Plan: "none"}
	return &realServers{base: base, lock: lock, on: c.Play, jobs: c.Jobs}, err
}

func (s *realServers) setup() (int, bool) { return s.lock.Masters(s.base), s.lock.Fences }
func (s *realServers) atOnce() int        { return s.jobs }
func (s *realServers) servers() string    { return s.told }

func (s *realServers) fits(r search.Round) error { return run.Validate(r.Over(s.base), s.lock) }

// tries is how often a round is played in which the harness lagged.
const tries = 3

func (s *realServers) play(ctx context.Context, r search.Round) (o outcome) {
	for range tries {
		var lagged bool
		if o, lagged = s.once(ctx, r); !lagged || ctx.Err() != nil {
			break
		}
	}
	return o
}

// once plays a round, and reports whether the harness lagged in it: then pauses were
// longer than asked for, and requests waited for the machine.
func (s *realServers) once(ctx context.Context, r search.Round) (o outcome, lagged bool) {
	var measured *stats.Stats
	done, err := s.on(ctx, r.Over(s.base), run.Options{
		Begin: func(b run.Beginning) []history.Sink {
			measured = stats.New(b.Header)
			s.mu.Lock()
			s.told = b.Meta.Testbed.Name + ", " + b.Meta.Testbed.Version
			s.mu.Unlock()
			return []history.Sink{measured}
		},
		Keep: func(*reports.Run) bool { return false },
	})
	switch {
	case err != nil:
		return outcome{void: history.OneLine(err.Error())}, false
	case done == nil || done.Interrupted || ctx.Err() != nil:
		return outcome{void: "it was broken off"}, false
	case len(done.Troubles()) > 0:
		return outcome{void: done.Troubles()[0], report: done.Report}, false
	}
	o.report, o.summary = done.Report, measured.Summary()
	for _, f := range done.Report.Inconclusive {
		if slices.Contains([]string{"V4", "V5", "V7"}, f.ID) {
			o.void, lagged = f.ID+" "+f.Text, true
			break
		}
	}
	return o, lagged
}
