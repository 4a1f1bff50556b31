package workload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"locktorture/workload/history"
)

// A phase is one part of the load, and the state that its goroutines share.
type phase struct {
	name   string
	cfg    Config
	began  time.Time
	rec    *history.Recorder
	over   <-chan struct{} // closed when no cycle may start any more; what is open is finished
	alone  *alone          // the end of the final phase
	queue  chan arrival    // open loop: arrivals that wait for a client; nil in a closed loop
	demand *demand
	can    abilities    // of the lock, where the mode mixes them
	vague  atomic.Bool  // the lock has granted a lease without a deadline
	tears  atomic.Int64 // writes that found their row changed within the section
	// Who ask for each key that is held for long, of a mixed load. The last one does not give up: what befalls a
	// holder's renewals shows only where somebody else asks when the lease runs out.
	askers headcount
	users  headcount // who ask for each key of a mixed load, or hold it
}

func (p *phase) isOver() bool { return isClosed(p.over) }

// isClosed looks at a channel on which nothing is sent, and does not wait.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Run loads the lock in the pattern of cfg for cfg.Duration, or until ctx ends,
// and returns once the cycles that are under way are finished. Clients that
// live from an earlier phase go on with the connections that they have. A
// client that is stopped at a gate keeps Run from returning until it goes on. An
// error is trouble of the harness, or a *LacksError before anything ran; never
// an anomaly.
func Run(ctx context.Context, cfg Config, clients []*Client, rec *history.Recorder) error {
	return run(ctx, history.PhaseMain, cfg, cfg.Duration, clients, rec)
}

// RunFinal is the healthy phase at the end, for cfg.Final: every client that lives acquires
// every key in turn, each starting with another one, and holds it for no longer than its writes
// take. No fault excuses a failure there. After LeasesEnd each key is left to one client:
// whoever is refused then, again and again, was not refused because of somebody else. It asks for
// a key that can be read as a reader and as a writer by turns. Once every key has been granted
// there, in each of its modes, the phase ends.
func RunFinal(ctx context.Context, cfg Config, clients []*Client, rec *history.Recorder) error {
	cfg = cfg.atTheEnd()
	return run(ctx, history.PhaseFinal, cfg, cfg.Final, clients, rec)
}

// atTheEnd is c for the final phase.
func (c Config) atTheEnd() Config {
	c.Hold, c.LongHold, c.Extend, c.Rate = Dist{}, 0, 0, 0
	c.Patience = max(c.WithDefaults().Patience, c.Final)
	return c
}

// LeasesEnd is how long after the faults' end nobody can hold any more what he was granted
// before, nor wait any longer for his next try: two leases.
func (c Config) LeasesEnd() time.Duration { return 2 * c.TTL }

// FinalPhase is how long a healthy final phase has to be able to last: long enough for every lease
// of the main phase to end, for each key to be taken afresh, and for whoever then has a key to
// himself to be refused time and again, as reader and as writer, each time as late as he is
// answered at all. It ends as soon as every key was granted.
func (c Config) FinalPhase() time.Duration {
	c = c.WithDefaults()
	return c.LeasesEnd() + 2*aloneTurn*c.TTL + c.TTL/8 + 4*(min(c.Wait, c.TTL)+c.Timeout) + time.Second
}

// Part is which of all clients of a run one process drives, where several do.
type Part struct {
	First int // number of its first client among all, from 0
	Of    int // how many there are in all; 0: as many as this process drives
}

func run(ctx context.Context, name string, cfg Config, length time.Duration, clients []*Client, rec *history.Recorder) error {
	began := false
	s, err := play(ctx, name, cfg, length, clients, rec, func() error {
		began = true
		rec.Append(PhaseBegins(name))
		return nil
	})
	if began {
		rec.Append(s.Event(name))
	}
	return err
}

// PhaseBegins is the event that begins a phase.
func PhaseBegins(name string) history.Event {
	return history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: name}
}

// Play is Run, or RunFinal where name is history.PhaseFinal, by some of the clients of
// a run: cfg.Part says by which. It records nothing about the phase itself: whoever
// has all parts play does, with the sum of their summaries. begin is called once every
// client is connected, and the phase begins when it returns; its error ends Play.
func Play(ctx context.Context, name string, cfg Config, clients []*Client, rec *history.Recorder, begin func() error) (Summary, error) {
	if name == history.PhaseFinal {
		cfg = cfg.atTheEnd()
		return play(ctx, name, cfg, cfg.Final, clients, rec, begin)
	}
	return play(ctx, name, cfg, cfg.Duration, clients, rec, begin)
}

func play(ctx context.Context, name string, cfg Config, length time.Duration, clients []*Client, rec *history.Recorder, begin func() error) (Summary, error) {
	if err := cfg.Validate(); err != nil {
		return Summary{}, fmt.Errorf("workload: %w", err)
	}
	p := &phase{name: name, cfg: cfg.WithDefaults(), rec: rec}
	err := p.connect(ctx, clients)
	if err == nil {
		err = begin()
	}
	if err != nil {
		return Summary{}, fmt.Errorf("workload: %w", err)
	}
	p.began = time.Now()
	timed, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	p.over, p.demand = timed.Done(), newDemand(p.cfg, length)
	if together := p.cfg.LeasesEnd(); name == history.PhaseFinal && p.cfg.Mode != ModeMulti && together < length {
		among, end := context.WithTimeout(timed, together)
		defer end()
		p.alone = &alone{begun: among.Done(), over: cancel, left: map[leftKey]bool{}}
	}

	var beside sync.WaitGroup
	lag := newLagMeter()
	beside.Go(func() { lag.measure(p.over, length) })
	if cfg.Rate > 0 {
		p.queue = make(chan arrival, or(cfg.Backlog, 4*len(clients)))
		beside.Go(func() { dispatcher{}.run(p) })
	}
	err = p.employ(ctx, clients, cancel)
	cancel()
	beside.Wait()
	return p.summary(lag), err
}

// connect starts the clients that have never lived, and checks that their lock can do what the
// mode needs.
func (p *phase) connect(ctx context.Context, clients []*Client) error {
	errs := make([]error, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			if errs[i] = c.start(ctx); errs[i] != nil {
				return
			}
			if l, err := c.locker(); err == nil {
				errs[i] = Lacks(p.cfg.Mode, l)
			}
		})
	}
	wg.Wait()
	p.can = p.abilitiesOf(clients)
	for _, err := range errs {
		if lack := (*LacksError)(nil); errors.As(err, &lack) {
			return err // once, not once per client
		}
	}
	return errors.Join(errs...)
}

// employ runs one worker per client until all have finished. A worker that
// panics ends the phase with a *PanicError.
func (p *phase) employ(ctx context.Context, clients []*Client, stop func()) error {
	errs := make([]error, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		w := &worker{phase: p, client: c, rng: stream(p.cfg.Seed, p.name+" "+c.Name), asked: map[int]int{}, refused: map[leftKey]bool{}}
		actor, actors := p.cfg.Part.First+i, max(p.cfg.Part.Of, len(clients))
		w.keys = p.keySource(actor, actors)
		w.mine = p.mine(actor, actors)
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					errs[i] = Caught(c.Name, r)
					stop()
				}
			}()
			w.work(ctx)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// summary is the result of the phase.
func (p *phase) summary(lag lagMeter) (s Summary) {
	s.Lag, s.Samples = lag.p99()
	for len(p.queue) > 0 {
		p.demand.finish(<-p.queue, false, true)
	}
	s.Demand, s.Torn = p.demand.sum(), p.tears.Load()
	return s
}

// A keySource draws the index of the next key.
type keySource func() int

// keySource returns the actor's source: in the final phase a walk over all
// keys, each actor starting elsewhere, and the configured pattern otherwise.
func (p *phase) keySource(actor, actors int) keySource {
	rng := stream(p.cfg.Seed, fmt.Sprintf("%s keys %d", p.name, actor))
	n := p.cfg.Keys
	switch {
	case p.name == history.PhaseFinal:
		next := actor * n / actors
		return func() int { next++; return (next - 1) % n }
	case p.cfg.KeySkew > 0 && p.cfg.KeySkew < 1:
		z := newZipf(n, p.cfg.KeySkew)
		return func() int { return z.draw(rng) }
	case p.cfg.KeySkew > 1:
		zipf := rand.NewZipf(rng, p.cfg.KeySkew, 1, uint64(n-1))
		return func() int { return int(zipf.Uint64()) }
	default:
		return func() int { return rng.IntN(n) }
	}
}

// draw makes one arrival.
func (p *phase) draw(rng *rand.Rand, keys keySource) arrival {
	first := keys()
	a := arrival{keys: []string{p.cfg.Key(first)}, use: use{how: p.cfg.Mode, wait: p.cfg.Wait}}
	switch p.cfg.Mode {
	case ModeMixed:
		return p.mix(rng, first)
	case ModeMulti:
		second := (first + 1 + rng.IntN(p.cfg.Keys-1)) % p.cfg.Keys
		a.keys = append(a.keys, p.cfg.Key(second))
	case ModeRW:
		if rng.Float64() < p.cfg.Readers {
			a.mode = history.Shared
		}
	}
	return a
}

// Key names the resource number n.
func (c Config) Key(n int) string { return c.Prefix + "k" + strconv.Itoa(n) }
