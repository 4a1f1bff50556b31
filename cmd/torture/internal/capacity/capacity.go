// Package capacity measures how much a lock can carry within an objective.
package capacity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/measure"
	"locktorture/reports"
	"locktorture/reports/capacity"
	"locktorture/reports/slo"
	"locktorture/reports/stats"
	"locktorture/reports/unit"
	"locktorture/workload/load"
)

// A Config says what is asked, and within which bounds.
type Config struct {
	Servers   measure.Config
	Catalogue catalogue.Locks // of which Lock may be
	Lock      string
	SLO       []string
	Masters   int // 0: what the lock is made for
	Clients   int
	Keys      int
	Hold      time.Duration
	TTL       time.Duration
	Repeats   int
	Step      time.Duration // measured of one rate in one repeat
	MaxRate   float64       // never offer more
	MaxLag    time.Duration // of the generator, p99; 0: a fifth of the objective
	Outage    time.Duration // of the majority
	Budget    time.Duration // for the whole measurement; what it leaves no time for is suppressed
	Seed      uint64
	Trace     load.Trace // of arrivals, which is offered in place of rates
	TraceFile string
	Progress  func(line string)
}

const (
	maxClients = 256
	maxKeys    = 100_000
	maxOffer   = 200_000 // arrivals per second
	maxFlight  = 20_000  // requests under way
)

// Validate reports what is out of range.
func (c Config) Validate() error {
	var errs []error
	demand := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	demand(c.Clients >= 1 && c.Clients <= maxClients, "--clients %d: want 1 to %d", c.Clients, maxClients)
	demand(c.Keys >= 1 && c.Keys <= maxKeys, "--keys %d: want 1 to %d", c.Keys, maxKeys)
	demand(c.TTL >= 100*time.Millisecond && c.TTL <= 10*time.Second, "--ttl %v: want 100ms to 10s", c.TTL)
	demand(c.Hold >= 0 && c.Hold <= c.TTL/2, "--hold %v: want 0 to half of the TTL (%v)", c.Hold, c.TTL/2)
	demand(c.Repeats >= 2 && c.Repeats <= measure.MaxRepeats, "--repeats %d: want 2 to %d: one repeat has no interval", c.Repeats, measure.MaxRepeats)
	demand(c.Step >= 50*time.Millisecond && c.Step <= measure.MaxSlice, "--step %v: want 50ms to %v", c.Step, measure.MaxSlice)
	demand(c.MaxRate > 0 && c.MaxRate <= maxOffer, "--max-rate %v: want more than 0 and up to %d", c.MaxRate, maxOffer)
	demand(c.Outage >= 100*time.Millisecond && c.Outage <= time.Minute, "--outage %v: want 100ms to 1m", c.Outage)
	demand(c.Budget >= 10*time.Second && c.Budget <= time.Hour, "--budget %v: want 10s to 1h", c.Budget)
	demand(c.MaxLag >= 0, "--max-lag %v: want 0 or more", c.MaxLag)
	demand(c.Masters >= 0 && (c.Masters == 0 || c.Masters%2 == 1) && c.Masters <= 9, "--nodes %d: want an odd number up to 9", c.Masters)
	demand(len(c.SLO) > 0, "--slo: want at least one objective, such as 'acquire.p99<50ms'")
	if len(c.Trace) > 0 {
		span := c.Trace.Span()
		demand(time.Duration(c.Repeats+2)*span < c.Budget, "--arrivals %s: %d repeats of %v want more than --budget %v: cut the trace to its busiest part, or allow more",
			c.TraceFile, c.Repeats, span.Round(time.Millisecond), c.Budget)
		demand(c.Trace.Rate() <= c.MaxRate, "--arrivals %s: %.0f/s on average is more than --max-rate %v", c.TraceFile, c.Trace.Rate(), c.MaxRate)
	}
	objectives, err := slo.ParseAll(c.SLO)
	if err != nil {
		err = fmt.Errorf("--slo: %w", err)
	}
	errs = append(errs, err, measurable(objectives))
	_, err = measure.FindContestant(c.Catalogue, c.Lock)
	return errors.Join(append(errs, c.Servers.Validate(), err)...)
}

// A survey is one capacity measurement under way.
type survey struct {
	Config
	servers    *measure.Servers
	lock       measure.Contestant
	objectives []slo.Objective
	bound      time.Duration // on the acquire's p99; 0 when no objective sets one
	rng        *rand.Rand
	began      time.Time
	r          *capacity.Report

	tails []tail // by repeat

	loops, disturbed int // closed loops, and of these measured beside other programs

	repeat int // of the ramp that is under way; noRepeat before and after it
}

// errorObjective is demanded unless the caller speaks of errors.
const errorObjective = "error<0.1%"

// noRepeat is where no repeat of the ramp is under way.
const noRepeat = -1

// Run measures how much the lock can carry. What cannot be measured is in
// the report as suppressed, with its reason. Of an interrupted measurement that is what
// it had not come to; there is no report where nothing was measured.
func Run(ctx context.Context, c Config) (r *capacity.Report, err error) {
	s, err := newSurvey(c)
	if err != nil {
		return nil, err
	}
	s.Config.Servers.Nodes = s.Masters
	if s.fewer() {
		s.Config.Servers.Nodes += moreMasters // held out of the model
	}
	s.began = time.Now()
	if s.servers, err = measure.Start(ctx, s.Config.Servers); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.servers.Close(context.WithoutCancel(ctx))) }()
	if have := len(s.servers.Bed.Nodes()); have < s.Masters {
		return nil, fmt.Errorf("%d masters are given, and %d are needed", have, s.Masters)
	}
	if err := s.servers.Bootstrap(ctx, len(s.servers.Bed.Nodes())); err != nil {
		return nil, err
	}
	s.describe(ctx)
	parts := s.parts()
	for i, part := range parts {
		s.Progress(fmt.Sprintf("%5.0fs  %s", time.Since(s.began).Seconds(), part.name))
		err := part.do(ctx)
		if ctx.Err() != nil && s.r.Measured() {
			s.interrupted(parts[i:])
			break
		}
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	s.conclude()
	if s.r.Calibration != nil {
		s.r.Validate()
	}
	s.r.Took = time.Since(s.began)
	return s.r, nil
}

// A part of a measurement.
type part struct {
	name string
	do   func(context.Context) error
}

// parts are those of the whole measurement, or of one that plays a trace of arrivals.
func (s *survey) parts() []part {
	if len(s.Trace) > 0 {
		return []part{{"arrivals of " + s.TraceFile, s.follow}, {"bisection at the limit", s.bisect}}
	}
	return []part{
		{"closed loops", s.sweep}, {"hot key", s.hotKey}, {"cost", s.cost}, {"open-loop ramp", s.ramp}, {"bisection at the limit", s.bisect},
		{"open loops held out", s.holdOutOpen},
		{"sensitivity", s.sensitivity}, {"lost majority", s.loseMajority}, {"lost master", s.loseOne},
	}
}

// interrupted says which parts the measurement did not come to the end of.
func (s *survey) interrupted(rest []part) {
	var missing []string
	for _, p := range rest {
		missing = append(missing, p.name)
	}
	missing[0] += " (in part)"
	s.r.Interrupted(missing, s.repeat)
}

// late reports whether that share of the budget is used up.
func (s *survey) late(share float64) bool {
	return time.Since(s.began) > time.Duration(share*float64(s.Budget))
}

// tries is how often a closed loop is measured while it is disturbed: once, when the
// budget has no time for more.
func (s *survey) tries() int {
	if s.late(lateRetries) {
		return 1
	}
	return measure.Tries
}

// The shares of the budget after which parts are cut short.
const (
	lateRetries  = 0.35 // what lagged or was disturbed is not measured again
	lateRamp     = 0.60 // no further repeat of the ramp
	lateEffects  = 0.80 // no further pair of the sensitivity
	lateRecovery = 0.85 // no further loss of the majority
)

func newSurvey(c Config) (*survey, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := &survey{Config: c, rng: rand.New(rand.NewPCG(c.Seed, 7)), tails: make([]tail, c.Repeats), repeat: noRepeat}
	if !slices.ContainsFunc(s.SLO, func(o string) bool { return strings.HasPrefix(strings.TrimSpace(o), "error") }) {
		s.SLO = append(slices.Clone(s.SLO), errorObjective)
	}
	var err error
	if s.objectives, err = slo.ParseAll(s.SLO); err != nil {
		return nil, err
	}
	for _, o := range s.objectives {
		if b := o.AcquireP99(); b > 0 {
			s.bound = b
		}
	}
	if s.MaxLag == 0 {
		s.MaxLag = max(s.bound/5, time.Millisecond)
	}
	if s.lock, err = measure.FindContestant(c.Catalogue, c.Lock); err != nil {
		return nil, err
	}
	if s.Masters == 0 {
		s.Masters = 1
		if s.lock.Nodes != 1 {
			s.Masters = catalogue.Masters
		}
	}
	return s, nil
}

func (s *survey) describe(ctx context.Context) {
	r := &capacity.Report{
		Schema: reports.Schema, Redis: fmt.Sprintf("%s, %s", s.servers.Bed.Name(), s.servers.Bed.Version()), Began: time.Now(),
		Seed: s.Seed, Repeats: s.Repeats, Bound: s.bound, Warning: s.servers.Notes(),
		Setup:       capacity.Setup{Lock: s.Lock, Masters: s.Masters, Clients: s.Clients, Keys: s.Keys, Hold: s.Hold, TTL: s.TTL, Step: s.Step},
		NotMeasured: []string{"TLS", "more than one host", "failover to a replica"},
	}
	r.Arrivals = s.arrivals()
	if n := r.Arrivals; n != nil && n.Keys > 0 {
		r.Setup.Keys = n.Keys
	}
	for _, o := range s.objectives {
		r.SLO = append(r.SLO, o.String())
	}
	var pings []time.Duration
	for range 200 {
		began := time.Now()
		if s.servers.Admins[0].Ping(ctx).Err() == nil {
			pings = append(pings, time.Since(began))
		}
	}
	r.RTT = stats.QuantilesOfAll(pings).P50
	s.r = r
}

// briefly is how long a closed loop is measured.
func (s *survey) briefly() load.Window {
	return load.Window{Warmup: min(s.Step/5, 200*time.Millisecond), Measure: max(s.Step/3, 50*time.Millisecond)}
}

func (s *survey) task(hold time.Duration) load.Task {
	return load.Task{TTL: s.TTL, Hold: hold, Wait: measure.Patience, Pause: s.lock.Pause}
}

// connect builds clients over the first masters, linked or not, and opens their
// connections.
func (s *survey) connect(ctx context.Context, masters, clients int, linked bool) (*measure.Clients, error) {
	t := measure.Topology{Masters: masters, Clients: clients}
	if linked {
		t.Linked = masters
	}
	c, err := s.servers.Connect(ctx, s.lock, t)
	if err != nil {
		return nil, err
	}
	load.Once(ctx, c.Workers(2*clients, c.Keys(2*clients)), load.Task{TTL: time.Second}, measure.ConnectTime)
	return c, nil
}

// closed runs a closed loop, again while other programs disturb it, and counts those
// that were disturbed to the end.
func (s *survey) closed(ctx context.Context, workers []load.Worker, t load.Task, w load.Window) (r *load.Result) {
	if s.servers.Undisturbed(ctx, s.Masters, s.tries(), func() { r = load.Closed(ctx, workers, t, w, s.rng.Uint64()) }) != "" {
		s.disturbed++
	}
	s.loops++
	return r
}

// fleet is the highest median throughput of the sweep.
func (s *survey) fleet() float64 {
	best := 0.0
	for _, n := range sweepSizes {
		var rates []float64
		for _, l := range s.r.Sweep {
			if l.N == n {
				rates = append(rates, l.Rate)
			}
		}
		best = max(best, stats.Median(rates))
	}
	return best
}

// The hot key: how many clients want it, and for how long each repeat looks, so that
// a rate does not rest on a handful of pairs.
const (
	hotWaiters = 16
	hotPairs   = 200
	hotWindow  = 5 * time.Second // at most
)

// hotKey measures the hand-off without a hold, and the ceiling with it.
func (s *survey) hotKey(ctx context.Context) (err error) {
	c, err := s.connect(ctx, s.Masters, hotWaiters, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	var handoff, overhold, predicted, measured []float64
	w := s.briefly()
	w.Measure = max(w.Measure, 20*s.Hold, min(hotPairs*s.Hold, hotWindow))
	var pairs int64
	for repeat := range s.Repeats {
		r := s.closed(ctx, c.Workers(hotWaiters, c.Keys(1)), s.task(0), w)
		cycle, changes := w.Measure.Seconds()/float64(max(r.Pairs, 1)), r.Changes
		r = s.closed(ctx, c.Workers(hotWaiters, c.Keys(1)), s.task(s.Hold), w)
		if ctx.Err() != nil { // what was broken off has no rate
			break
		}
		measured, pairs = append(measured, r.Rate()), pairs+r.Pairs
		if changes > 0 {
			over := max(capacity.Average(r.Overheld).Seconds(), 0)
			handoff, overhold = append(handoff, cycle), append(overhold, over)
			predicted = append(predicted, 1/(s.Hold.Seconds()+over+cycle))
		}
		s.tails[repeat].overheld = append(s.tails[repeat].overheld, r.Overheld...)
	}
	over := capacity.Amount(overhold)
	s.r.Calibration.Overhold = over.Value
	s.r.Hot = capacity.Hot{Hold: s.Hold, Over: over, HandOff: capacity.Amount(handoff), Predicted: capacity.Amount(predicted), Measured: capacity.Amount(measured), Pairs: pairs}
	return nil
}

// conclude draws the answer from what was measured.
func (s *survey) conclude() {
	r := s.r
	r.Knee = capacity.Knee(capacity.Steps(r.Points))
	r.Limit = capacity.Edge(capacity.Steps(r.Points))
	r.Recommended = r.Limit.Times(capacity.Headroom)
	slices.SortStableFunc(r.Points, func(a, b capacity.Point) int { return cmp.Or(cmp.Compare(a.Rate, b.Rate), a.Repeat-b.Repeat) })
	ceiling, hottest := r.Hot.Measured.Value, 1/float64(r.Setup.Keys)
	if a := r.Arrivals; a != nil {
		if hottest = max(hottest, a.Hottest); s.Hold > 0 {
			ceiling = 1 / s.Hold.Seconds() // at most: the hand-off is not measured here
		}
	}
	r.Bottleneck = capacity.Blame(r.Points, s.limit(), r.Setup, ceiling, hottest)
	r.Lease = s.lease()
	if r.Discarded = r.Lagged(); r.Discarded > len(r.Points)/4 {
		r.Warning = append(r.Warning, fmt.Sprintf("%d of %d points were discarded because the generator lagged (p99 above %s) or other programs took more than %s of the processors: this machine is too busy",
			r.Discarded, len(r.Points), unit.Latency(s.MaxLag), unit.Percent(measure.TooBusy)))
	}
	if s.disturbed > 0 {
		r.Warning = append(r.Warning, fmt.Sprintf("%d of %d closed loops were measured while other programs took more than %s of the processors: this machine is too busy",
			s.disturbed, s.loops, unit.Percent(measure.TooBusy)))
	}
	r.Advise()
}

// limit is the rate at the objectives' edge, or the highest valid one when the
// edge was not reached.
func (s *survey) limit() float64 {
	if e := capacity.Edge(capacity.Steps(s.r.Points)); e.Known() {
		return e.Value
	}
	highest := 0.0
	for _, p := range s.r.Points {
		if p.Valid {
			highest = max(highest, p.Rate)
		}
	}
	return highest
}
