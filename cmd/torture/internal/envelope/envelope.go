// Package envelope finds out how far a lock can be trusted: by rounds in virtual time, or
// on real servers, over leases of many lengths, and pauses, delays and wrong clocks of
// many lengths.
package envelope

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/search"
	"locktorture/faults"
	"locktorture/faults/watch"
	"locktorture/reports"
	"locktorture/reports/envelope"
	"locktorture/workload"
	"locktorture/workload/history"
)

// MaxJobs is how many rounds may be played on servers at once.
const MaxJobs = 64

// A Config says of which lock, and how much is played.
type Config struct {
	Catalogue catalogue.Locks
	Lock      string
	Masters   int           // 0: what the lock is made for
	Hold      time.Duration // work done while holding
	Rounds    int           // of every cell
	Budget    time.Duration // real time; what it leaves no time for stays empty
	Seed      uint64
	Progress  func(line string)

	OnRedis bool   // on real servers, over a coarser grid
	Jobs    int    // rounds at once there
	Out     string // folder for what they need meanwhile
	Play    Player // of a run there
}

// The load of every round: requests that come by themselves, and give up.
const (
	clients  = 4
	rate     = 10 // arrivals per second
	patience = time.Second
	settle   = 500 * time.Millisecond
)

// A grid is what is compared: leases, and long and short disturbances.
type grid struct {
	ttls, long, short []time.Duration
	times             int           // that the fault comes in a round
	delayed           time.Duration // how long messages are delayed in a round
}

// fine is played in virtual time, where a lease costs nothing.
var fine = grid{
	ttls:    []time.Duration{250 * ms, 500 * ms, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second},
	long:    []time.Duration{125 * ms, 250 * ms, 500 * ms, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second},
	short:   []time.Duration{5 * ms, 25 * ms, 60 * ms, 125 * ms, 250 * ms, 500 * ms, time.Second},
	times:   3,
	delayed: 10 * time.Second,
}

// coarse is played on real servers.
var coarse = grid{
	ttls:    []time.Duration{500 * ms, time.Second, 2 * time.Second},
	long:    []time.Duration{250 * ms, time.Second, 4 * time.Second},
	short:   []time.Duration{25 * ms, 125 * ms, 500 * ms},
	times:   2,
	delayed: 5 * time.Second,
}

const ms = time.Millisecond

func (c Config) grid() grid {
	if c.OnRedis {
		return coarse
	}
	return fine
}

// An axis is what is varied beside the lease.
type axis struct {
	envelope.Axis
	steps func(ttl, x time.Duration) []faults.Spec
	once  bool // the fault comes once, and lasts
	wide  bool // many clients and keys
	long  bool // holds last a good part of the lease, and requests are few: others come while one holds
}

// Of rounds with long holds: how long they last at most, and how many arrivals there are
// per second.
const (
	longHold = 250 * time.Millisecond
	fewer    = 3
)

// Of rounds in which every request takes long by itself: enough clients and keys that
// none of them waits for another.
const (
	wideClients = 12
	wideKeys    = 16
	wideRate    = 5
)

// hold is how long a section of a round lasts.
func (a axis) hold(c Config, ttl time.Duration) time.Duration {
	if a.long {
		return min(longHold, ttl/2)
	}
	return c.Hold
}

// axes are those of the envelope.
func axes(hold time.Duration, g grid) []axis {
	bounds := func(of func(ttl time.Duration) time.Duration) (out []time.Duration) { // the theoretical line
		for _, ttl := range g.ttls {
			out = append(out, of(ttl))
		}
		return out
	}
	before := func(ttl time.Duration) time.Duration { return envelope.Validity(ttl) - hold }
	return []axis{
		{
			Axis: envelope.Axis{
				Name: "crash", Title: "crash of a holder inside its critical section", Values: []time.Duration{0},
				Line: "nobody else gets the key before the lease has ended: the longest wait is about a TTL",
			},
			steps: func(_, _ time.Duration) []faults.Spec {
				return []faults.Spec{{Fault: "crash-client", On: watch.InSection, For: settle, Params: faults.Params{Client: faults.RoleHolder}}}
			},
		}, {
			Axis: envelope.Axis{
				Name: "pause", Title: "pause of a holder inside its critical section (garbage collection, swap, a suspended machine)",
				Values: g.long, Lines: bounds(before),
				Line: "a pause that is longer than the validity (0.99 × TTL − 2 ms) less the hold lets the lease run out inside the section",
			},
			steps: func(_, x time.Duration) []faults.Spec {
				return []faults.Spec{{Fault: "pause-client", On: watch.InSection, For: x, Params: faults.Params{Client: faults.RoleHolder}}}
			},
		}, {
			Axis: envelope.Axis{
				Name: "delay", Title: "delay of every message between clients and masters, each way",
				Values: g.short, Lines: bounds(func(ttl time.Duration) time.Duration { return timeout(ttl) / 2 }),
				Line: "beyond half of an operation's time-out (TTL / 2, at most 1 s) no reply comes in time: nothing is granted, and nothing is violated (12 clients, 16 keys, 5/s, patience 4 s)",
			},
			once: true,
			wide: true,
			steps: func(_, x time.Duration) []faults.Spec {
				return []faults.Spec{{Fault: "latency", For: g.delayed, Params: faults.Params{Client: faults.RoleAll, Node: faults.RoleAll, Delay: x, Jitter: faults.Constant}}}
			},
		}, {
			Axis: envelope.Axis{
				Name: "clock", Title: "clocks of a majority of the masters that jump ahead while a lease is held",
				Values: g.long, Lines: bounds(func(ttl time.Duration) time.Duration { return ttl - min(longHold, ttl/2) }),
				Line: "a jump by more than the lease less the hold (here half of the lease, at most 250 ms, at 3/s) frees it on a majority while its holder counts on it",
			},
			long: true,
			steps: func(ttl, x time.Duration) []faults.Spec {
				return []faults.Spec{{Fault: "clock-jump", On: watch.InSection, For: ttl, Params: faults.Params{Node: faults.RoleMajority, Jump: x}}}
			},
		},
	}
}

// timeout is how long an operation of a round may take.
func timeout(ttl time.Duration) time.Duration { return min(ttl/2, time.Second) }

// Run plays the rounds: every cell once, then every cell again, so that a budget that
// ends leaves the same number everywhere, one more or less.
func Run(ctx context.Context, c Config) (*envelope.Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s, err := c.stage()
	if err != nil {
		return nil, err
	}
	g := c.grid()
	r := &envelope.Report{
		Schema: reports.Schema, Lock: c.Lock, Hold: c.Hold, Seed: c.Seed, Rounds: c.Rounds,
		Clients: clients, Rate: rate, Patience: patience, Times: g.times, TTLs: g.ttls, Began: time.Now(),
	}
	r.Masters, r.Fenced = s.setup()
	all := axes(c.Hold, g)
	for _, a := range all {
		r.Maps = append(r.Maps, envelope.NewMap(a.Axis, g.ttls))
	}
	if c.play(ctx, s, all, r); ctx.Err() != nil && !r.Played() {
		return nil, ctx.Err()
	}
	r.Redis = s.servers()
	r.Took = time.Since(r.Began)
	r.Advise()
	return r, nil
}

// Validate says which setting cannot work.
func (c Config) Validate() error {
	switch {
	case c.Rounds < 1 || c.Rounds > 1000:
		return fmt.Errorf("--rounds is %d: want 1 to 1000", c.Rounds)
	case c.Budget < time.Second || c.Budget > 24*time.Hour:
		return fmt.Errorf("--budget %v: want 1s to 24h", c.Budget)
	case c.Hold < 0 || c.Hold > c.grid().ttls[0]/2:
		return fmt.Errorf("--hold %v: want 0 to %v, half of the shortest lease", c.Hold, c.grid().ttls[0]/2)
	case c.Jobs < 1 || c.Jobs > MaxJobs:
		return fmt.Errorf("--jobs %d: want 1 to %d", c.Jobs, MaxJobs)
	case c.Masters < 0 || c.Masters > 9 || c.Masters > 0 && c.Masters%2 == 0:
		return fmt.Errorf("--nodes %d: want an odd number up to 9", c.Masters)
	}
	_, err := c.stage()
	return err
}

func (c Config) play(ctx context.Context, s stage, all []axis, r *envelope.Report) {
	ctx, cancel := context.WithTimeout(ctx, c.Budget)
	defer cancel()
	rng := rand.New(rand.NewPCG(c.Seed, 21))
	var mu sync.Mutex
	var several errgroup.Group
	several.SetLimit(s.atOnce())
	for n := range c.Rounds {
		for m, a := range all {
			for t, ttl := range r.TTLs {
				for x, value := range a.Values {
					seed := rng.Uint64()
					if ctx.Err() != nil {
						break // the report says how many rounds each cell has
					}
					round, cell := c.round(a, ttl, value, seed), &r.Maps[m].Cells[t][x]
					if err := s.fits(round); err != nil {
						mu.Lock()
						cell.Missing = history.OneLine(err.Error())
						mu.Unlock()
						continue
					}
					several.Go(func() error {
						o := s.play(ctx, round)
						mu.Lock()
						defer mu.Unlock()
						o.addTo(cell)
						return nil
					})
				}
			}
			c.Progress(fmt.Sprintf("%5.0fs  round %d of %d: %s", time.Since(r.Began).Seconds(), n+1, c.Rounds, a.Title))
		}
	}
	_ = several.Wait() // none returns an error
}

// round is one round of a cell. The fault comes several times, with time for everything
// to be well again in between.
func (c Config) round(a axis, ttl, x time.Duration, seed uint64) search.Round {
	wait := patience
	if len(a.Values) == 1 { // of a crash, the wait itself is what is looked for
		wait = 2*ttl + patience
	}
	if a.wide { // the network is to decide, not somebody's patience
		wait = 4 * patience
	}
	arrivals := float64(rate)
	r := search.Round{Seed: seed, Clients: clients, TTL: ttl}
	keys := 1
	switch {
	case a.long:
		arrivals = fewer
	case a.wide:
		arrivals, r.Clients, keys = wideRate, wideClients, wideKeys
	}
	r.Load = config.Load{
		Keys: keys, Rate: arrivals, Hold: workload.Fixed(a.hold(c, ttl)), Writes: 2, Wait: wait, Patience: wait, Timeout: timeout(ttl), Mode: workload.ModeExclusive,
	}
	at := settle
	for range c.grid().times {
		last := time.Duration(0)
		for _, s := range a.steps(ttl, x) {
			s.At += at
			s.Within = ttl + settle
			if s.On == "" {
				s.Within = 0
			}
			r.Steps = append(r.Steps, s)
			last = max(last, s.For)
		}
		if at += last; a.once {
			break
		}
		at += 2*ttl + 2*settle
	}
	r.Duration = at + patience
	return r
}
