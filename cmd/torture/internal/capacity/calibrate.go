package capacity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/measure"
	"locktorture/faults/link"
	"locktorture/lockimpl"
	"locktorture/reports/capacity"
	"locktorture/reports/capacity/queueing"
	"locktorture/reports/stats"
	"locktorture/reports/unit"
	"locktorture/workload/load"
)

// sweepSizes are those of the closed loop to which the scalability law and the model
// are fitted. calibrated is the one at which masters and links are compared.
var sweepSizes = []int{1, 2, 4, 8, 16, 32, 64, 128}

const calibrated = 32

// What the model is fitted to behind links, and what is held out of the fit.
const (
	fewDelayed  = linkClients // goroutines, one of each client
	heldDelay   = 5 * time.Millisecond
	moreMasters = 2
	heldHold    = 5 * time.Millisecond
)

var fittedDelays = []time.Duration{0, 2 * time.Millisecond, 4 * time.Millisecond}

// apartSizes are those of the closed loops whose goroutines hold, from next to nothing
// under way to full processors.
var apartSizes = []int{1, 4, 8, 16, 64, 128, 256, 512}

// apartHold is how long they hold: as long as the load does, where that is neither the
// hold that is held out of the fit nor so long that little is under way.
func (s *survey) apartHold() time.Duration {
	const shortest, usual, longest = 10 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond
	if s.Hold < shortest || s.Hold > longest {
		return usual
	}
	return s.Hold
}

// A cell is a closed loop that every repeat measures, in an order of its own.
type cell struct {
	clients *measure.Clients
	masters int
	size    int
	hold    time.Duration
	delay   time.Duration // on the links
	hot     bool          // all want one key
	file    func(capacity.Load)
}

// A fleet builds clients and closes them all.
type fleet struct{ all []*measure.Clients }

func (f *fleet) build(c *measure.Clients, err error) (*measure.Clients, error) {
	if err == nil {
		f.all = append(f.all, c)
	}
	return c, err
}

func (f *fleet) close() error {
	var errs []error
	for _, c := range f.all {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// sweep measures closed loops of every size, in which every goroutine has a key of
// its own; what else the model is fitted to; and what is held out of it.
func (s *survey) sweep(ctx context.Context) (err error) {
	began := time.Now()
	var f fleet
	defer func() { err = errors.Join(err, f.close()) }()
	s.r.Calibration = &capacity.Calibration{Quorum: s.Masters/2 + 1, CPUs: runtime.NumCPU(), Size: calibrated}
	for _, d := range fittedDelays {
		s.r.Calibration.Delays = append(s.r.Calibration.Delays, d.Seconds())
	}
	cells, err := s.cells(ctx, &f)
	if err != nil {
		return err
	}
	held, err := s.heldCells(ctx, &f, cells)
	if err != nil {
		return err
	}
	cells = append(cells, held.cells...)
	err = s.measure(ctx, cells)
	c := s.r.Calibration
	slices.SortStableFunc(s.r.Sweep, func(a, b capacity.Load) int { return a.N - b.N })
	for _, l := range s.r.Sweep {
		if l.N == calibrated {
			c.Same = append(c.Same, l)
		}
	}
	for _, h := range held.points {
		c.HeldOut = append(c.HeldOut, h.point())
	}
	s.r.USL = capacity.FitUSL(s.r.Sweep)
	c.Took = time.Since(began)
	return err
}

// measure measures every cell in every repeat, in random order.
func (s *survey) measure(ctx context.Context, cells []cell) error {
	for repeat := range s.Repeats {
		for _, i := range s.rng.Perm(len(cells)) {
			l, err := s.cell(ctx, cells[i], repeat)
			if err := cmp.Or(ctx.Err(), err); err != nil { // what was broken off has no rate
				return err
			}
			cells[i].file(l)
		}
	}
	return nil
}

// cells are the closed loops that are fitted.
func (s *survey) cells(ctx context.Context, f *fleet) ([]cell, error) {
	plain, err := f.build(s.connect(ctx, s.Masters, s.Clients, false))
	if err != nil {
		return nil, err
	}
	load.Once(ctx, plain.Workers(slices.Max(sweepSizes), plain.Keys(slices.Max(sweepSizes))), s.task(0), measure.ConnectTime)
	var out []cell
	for _, n := range sweepSizes {
		out = append(out, cell{clients: plain, masters: s.Masters, size: n, file: func(l capacity.Load) { s.r.Sweep = append(s.r.Sweep, l) }})
	}
	c := s.r.Calibration
	for _, n := range apartSizes {
		out = append(out, cell{clients: plain, masters: s.Masters, size: n, hold: s.apartHold(), file: func(l capacity.Load) { c.Apart = append(c.Apart, l) }})
	}
	if s.fewer() {
		small, err := f.build(s.connect(ctx, s.Masters-2, s.Clients, false))
		if err != nil {
			return nil, err
		}
		out = append(out, cell{clients: small, masters: s.Masters - 2, size: calibrated, file: func(l capacity.Load) { c.Fewer = append(c.Fewer, l) }})
	}
	linked, err := f.build(s.connect(ctx, s.Masters, linkClients, true))
	if err != nil {
		return nil, err
	}
	c.Linkers = linkClients
	for _, n := range []int{fewDelayed, calibrated} {
		for _, d := range fittedDelays {
			out = append(out, cell{clients: linked, masters: s.Masters, size: n, delay: d, file: func(l capacity.Load) {
				c.Delayed = append(c.Delayed, l)
				if n == calibrated && d == 0 {
					c.Linked = append(c.Linked, l)
				}
			}})
		}
	}
	for _, d := range fittedDelays {
		out = append(out, cell{clients: linked, masters: s.Masters, size: hotWaiters, delay: d, hot: true, file: func(l capacity.Load) { c.HotDelayed = append(c.HotDelayed, l) }})
	}
	return out, nil
}

// fewer reports whether the lock can be measured on two masters less.
func (s *survey) fewer() bool {
	return s.Masters >= 5 || s.Masters == 3 && s.lock.Fits(1)
}

// A held is a point that is held out, while it is measured.
type held struct {
	name             string
	scenario         capacity.Scenario
	rates, p50, p99s []float64
	pairs            int64 // in all repeats
}

func (h *held) add(l capacity.Load) {
	h.rates, h.pairs = append(h.rates, l.Rate), h.pairs+l.Pairs
	if l.Acquire != nil {
		h.p50, h.p99s = append(h.p50, l.Acquire.At(0.5)), append(h.p99s, l.Acquire.At(0.99))
	}
}

func (h *held) point() capacity.HeldOut {
	p := capacity.NewHeldOut(h.name, h.scenario, h.rates, h.p50, h.p99s)
	p.Pairs = h.pairs
	return p
}

type heldOut struct {
	points []*held
	cells  []cell
}

func (h *heldOut) measure(name string, s capacity.Scenario, c cell) {
	one := &held{name: name, scenario: s}
	c.file = one.add
	h.points, h.cells = append(h.points, one), append(h.cells, c)
}

// heldCells are the closed loops that are held out of the fit: each differs in one
// thing from those that are in it.
func (s *survey) heldCells(ctx context.Context, f *fleet, fitted []cell) (out heldOut, err error) {
	plain, linked := fitted[0].clients, fitted[len(fitted)-1].clients
	twice := 2 * slices.Max(sweepSizes)
	out.measure(fmt.Sprintf("%d goroutines, no hold", twice), capacity.Scenario{Masters: s.Masters, Clients: twice},
		cell{clients: plain, masters: s.Masters, size: twice})
	out.measure(fmt.Sprintf("64 goroutines, hold %s", unit.Setting(heldHold)), capacity.Scenario{Masters: s.Masters, Clients: 64, Hold: heldHold},
		cell{clients: plain, masters: s.Masters, size: 64, hold: heldHold})
	rtt := s.r.RTT + heldDelay
	out.measure(fmt.Sprintf("round trips +%s (links), %d goroutines, no hold", unit.Setting(heldDelay), calibrated),
		capacity.Scenario{Masters: s.Masters, Clients: calibrated, RTT: []time.Duration{rtt}, Linked: true},
		cell{clients: linked, masters: s.Masters, size: calibrated, delay: heldDelay})
	c := s.r.Calibration
	switch more := s.Masters + moreMasters; {
	case !s.fewer():
		c.Missing = append(c.Missing, "other numbers of masters: the lock runs on no fewer, so that there is nothing to fit their cost to")
	case len(s.servers.Bed.Nodes()) < more:
		c.Missing = append(c.Missing, fmt.Sprintf("%d masters: %d are given", more, len(s.servers.Bed.Nodes())))
	default:
		large, err := f.build(s.connect(ctx, more, s.Clients, false))
		if err != nil {
			return out, err
		}
		out.measure(fmt.Sprintf("%d masters, %d goroutines, no hold", more, calibrated), capacity.Scenario{Masters: more, Clients: calibrated},
			cell{clients: large, masters: more, size: calibrated})
	}
	return out, nil
}

// cell measures one closed loop, with the processor time that a pair takes.
func (s *survey) cell(ctx context.Context, c cell, repeat int) (l capacity.Load, err error) {
	if c.delay > 0 {
		heal, err := c.clients.Impair(ctx, c.masters, link.Impairment{Kind: link.Delay, Toward: link.Down, Delay: c.delay})
		if err != nil {
			return l, err
		}
		defer func() { err = errors.Join(err, heal()) }()
	}
	w := s.briefly()
	w.Measure = max(w.Measure, 10*c.hold)
	l = capacity.Load{N: c.size, Repeat: repeat, Masters: c.masters, Delay: c.delay.Seconds()}
	keys := c.clients.Keys(c.size)
	if c.hot {
		keys = keys[:1]
	}
	workers := c.clients.Workers(c.size, keys)
	measureOnce := func() {
		redis, harness := s.servers.CPUTimes()
		r := load.Closed(ctx, workers, s.task(c.hold), w, s.rng.Uint64())
		redisAfter, harnessAfter := s.servers.CPUTimes()
		pairs := float64(max(r.AllPairs, 1))
		l.Rate, l.Pairs, l.Harness, l.Redis = r.Rate(), r.Pairs, (harnessAfter-harness).Seconds()/pairs, 0
		for i := range c.masters {
			l.Redis += (redisAfter[i] - redis[i]).Seconds() / pairs / float64(c.masters)
		}
		l.Acquire, l.Release = capacity.TimesOf(r.Service), capacity.TimesOf(r.Release)
		if c.hold > 0 {
			l.Over = max(capacity.Average(r.Overheld).Seconds(), 0)
		}
	}
	if s.servers.Undisturbed(ctx, s.Masters, s.tries(), measureOnce) != "" {
		l.Disturbed = true
		s.disturbed++
	}
	s.loops++
	return l, nil
}

// How much of the limit, and of a key's time, an open loop that is held out uses.
const (
	heldRate = 0.5
	heldKey  = 0.4
	heldZipf = 0.99
)

// holdOutOpen measures open loops that are held out of the fit: of another hold, and
// of keys that are not equally popular.
func (s *survey) holdOutOpen(ctx context.Context) (err error) {
	limit := s.limit()
	if limit <= 0 {
		s.r.Calibration.Missing = append(s.r.Calibration.Missing, "open loops: no rate was valid")
		return nil
	}
	c, err := s.connect(ctx, s.Masters, s.Clients, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	load.Once(ctx, c.Workers(s.Clients*4, c.Keys(s.Clients*4)), s.task(0), measure.ConnectTime)
	var points []*held
	for _, zipf := range []float64{0, heldZipf} {
		hold := 2 * s.Hold
		if zipf > 0 || hold > s.TTL/2 {
			hold = s.Hold
		}
		busiest := queueing.NewPopularity(s.Keys, zipf).Hottest()
		rate := min(heldRate*limit, heldKey/busiest/(hold+time.Millisecond).Seconds())
		name := fmt.Sprintf("open loop of %s, hold %s, %s", unit.Rate(math.Round(rate)), unit.Setting(hold), unit.Counted(s.Keys, "key"))
		if zipf > 0 {
			name += fmt.Sprintf(" by Zipf's law, %g", zipf)
		}
		seen := capacity.Scenario{Masters: s.Masters, Rate: math.Round(rate), Keys: s.Keys, Zipf: zipf, Hold: hold}
		seen.Warmup, seen.Window = s.r.Setup.OpenWindow(hold)
		points = append(points, &held{name: name, scenario: seen})
	}
	defer func() {
		for _, p := range points {
			s.r.Calibration.HeldOut = append(s.r.Calibration.HeldOut, p.point())
		}
	}()
	for range s.Repeats {
		for _, i := range s.rng.Perm(len(points)) {
			if s.late(lateRamp) && len(points[i].rates) >= 3 {
				continue
			}
			if err := s.open(ctx, c.Lockers, points[i], c.Keys(s.Keys)); err != nil {
				return err
			}
		}
	}
	return nil
}

// tickets is how many lots are drawn from for keys that are not equally popular.
const tickets = 4096

// open measures an open loop once, again while the generator lags or others disturb.
func (s *survey) open(ctx context.Context, lockers []lockimpl.Locker, h *held, keys []string) error {
	w := load.Window{Warmup: h.scenario.Warmup, Measure: h.scenario.Window}
	for range again + 1 {
		a := load.Arrivals{Rate: h.scenario.Rate, Keys: lots(keys, h.scenario.Zipf), Limit: maxFlight, Seed: s.rng.Uint64()}
		before := s.servers.Usage()
		r, err := load.Open(ctx, lockers, a, s.task(h.scenario.Hold), w)
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return err
		}
		q := stats.QuantilesOfAll(slices.Clone(r.Response))
		lagged := stats.QuantilesOfAll(slices.Clone(r.Lag)).P99 > s.MaxLag || measure.Disturbed(s.servers.Usage().Since(before, s.Masters)) != ""
		if !lagged && q.Count > 0 {
			h.pairs += r.Pairs
			h.rates, h.p50, h.p99s = append(h.rates, r.Rate()), append(h.p50, q.P50.Seconds()), append(h.p99s, q.P99.Seconds())
		}
		if !lagged || s.late(lateRetries) {
			return nil
		}
	}
	return nil
}

// lots are keys to draw from, each as often as Zipf's law has it.
func lots(keys []string, zipf float64) []string {
	if zipf == 0 {
		return keys
	}
	sum := 0.0
	for i := range keys {
		sum += math.Pow(float64(i+1), -zipf)
	}
	var out []string
	for i, k := range keys {
		out = append(out, slices.Repeat([]string{k}, max(int(math.Round(tickets*math.Pow(float64(i+1), -zipf)/sum)), 1))...)
	}
	return out
}
