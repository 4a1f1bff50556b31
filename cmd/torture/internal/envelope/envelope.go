// Package envelope finds out how far a lock can be trusted: by rounds in virtual time
// over leases of many lengths, and pauses, delays and wrong clocks of many lengths.
package envelope

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/search"
	"locktorture/cmd/torture/internal/simulate"
	"locktorture/faults"
	"locktorture/faults/watch"
	"locktorture/reports"
	"locktorture/reports/envelope"
	"locktorture/reports/stats"
	"locktorture/workload"
	"locktorture/workload/history"
)

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
}

// The load of every round: requests that come by themselves, and give up.
const (
	clients  = 4
	rate     = 10 // arrivals per second
	patience = time.Second
	times    = 3 // that the fault comes in a round
	settle   = 500 * time.Millisecond
)

// ttls are the leases that are compared.
var ttls = []time.Duration{
	250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second,
}

// An axis is what is varied beside the lease.
type axis struct {
	envelope.Axis
	steps func(ttl, x time.Duration) []faults.Spec
	once  bool // the fault comes once, and lasts
	wide  bool // many clients and keys
	long  bool // holds last a good part of the lease, and requests are few: others come while one holds
}

// delayed is how long messages are delayed in a round.
const delayed = 10 * time.Second

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
func axes(hold time.Duration) []axis {
	long := []time.Duration{125 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}
	short := []time.Duration{5 * time.Millisecond, 25 * time.Millisecond, 60 * time.Millisecond, 125 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second}
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
				Values: long, Lines: bounds(before),
				Line: "a pause that is longer than the validity (0.99 × TTL − 2 ms) less the hold lets the lease run out inside the section",
			},
			steps: func(_, x time.Duration) []faults.Spec {
				return []faults.Spec{{Fault: "pause-client", On: watch.InSection, For: x, Params: faults.Params{Client: faults.RoleHolder}}}
			},
		}, {
			Axis: envelope.Axis{
				Name: "delay", Title: "delay of every message between clients and masters, each way",
				Values: short, Lines: bounds(func(ttl time.Duration) time.Duration { return timeout(ttl) / 2 }),
				Line: "beyond half of an operation's time-out (TTL / 2, at most 1 s) no reply comes in time: nothing is granted, and nothing is violated (12 clients, 16 keys, 5/s, patience 4 s)",
			},
			once: true,
			wide: true,
			steps: func(_, x time.Duration) []faults.Spec {
				return []faults.Spec{{Fault: "latency", For: delayed, Params: faults.Params{Client: faults.RoleAll, Node: faults.RoleAll, Delay: x, Jitter: faults.Constant}}}
			},
		}, {
			Axis: envelope.Axis{
				Name: "clock", Title: "clocks of a majority of the masters that jump ahead while a lease is held",
				Values: long, Lines: bounds(func(ttl time.Duration) time.Duration { return ttl - min(longHold, ttl/2) }),
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

// bounds is the theoretical line: one value for every lease.
func bounds(of func(time.Duration) time.Duration) []time.Duration {
	var out []time.Duration
	for _, ttl := range ttls {
		out = append(out, of(ttl))
	}
	return out
}

// Run plays the rounds: every cell once, then every cell again, so that a budget that
// ends leaves the same number everywhere, one more or less.
func Run(ctx context.Context, c Config) (*envelope.Report, error) {
	if err := errors.Join(c.Validate(), simulate.SelfCheck()); err != nil {
		return nil, err
	}
	p, err := c.player()
	if err != nil {
		return nil, err
	}
	r := &envelope.Report{
		Schema: reports.Schema, Lock: c.Lock, Masters: p.Masters(), Fenced: p.Lock.Fences, Hold: c.Hold, Seed: c.Seed, Rounds: c.Rounds,
		Clients: clients, Rate: rate, Patience: patience, Times: times, TTLs: ttls, Began: time.Now(),
	}
	all := axes(c.Hold)
	for _, a := range all {
		r.Maps = append(r.Maps, envelope.NewMap(a.Axis, ttls))
	}
	c.play(ctx, p, all, r)
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
	case c.Hold < 0 || c.Hold > ttls[0]/2:
		return fmt.Errorf("--hold %v: want 0 to %v, half of the shortest lease", c.Hold, ttls[0]/2)
	case c.Masters < 0 || c.Masters > 9 || c.Masters > 0 && c.Masters%2 == 0:
		return fmt.Errorf("--nodes %d: want an odd number up to 9", c.Masters)
	}
	_, err := c.player()
	return err
}

// player returns who plays the lock, where it can live in virtual time.
func (c Config) player() (*simulate.Player, error) {
	lock, err := c.Catalogue.Find(c.Lock)
	if err != nil {
		return nil, err
	}
	p := &simulate.Player{Lock: lock, Nodes: c.Masters, Even: true}
	if err := p.Supports(); err != nil {
		return nil, fmt.Errorf("--lock %s: %w", c.Lock, err)
	}
	return p, nil
}

func (c Config) play(ctx context.Context, p *simulate.Player, all []axis, r *envelope.Report) {
	ctx, cancel := context.WithTimeout(ctx, c.Budget)
	defer cancel()
	rng := rand.New(rand.NewPCG(c.Seed, 21))
	for n := range c.Rounds {
		for m, a := range all {
			for t, ttl := range ttls {
				for x, value := range a.Values {
					seed := rng.Uint64()
					if ctx.Err() != nil {
						return // the report says how many rounds each cell has
					}
					round := c.round(a, ttl, value, seed)
					cell := &r.Maps[m].Cells[t][x]
					if err := p.Fits(round); err != nil {
						cell.Missing = history.OneLine(err.Error())
						continue
					}
					c.one(ctx, p, round, cell)
				}
			}
			c.Progress(fmt.Sprintf("%5.0fs  round %d of %d: %s", time.Since(r.Began).Seconds(), n+1, c.Rounds, a.Title))
		}
	}
}

// round is one round of a cell. The fault comes several times, with time for everything
// to be well again in between.
func (c Config) round(a axis, ttl, x time.Duration, seed uint64) search.Round {
	wait := patience
	if len(a.Values) == 1 { // of a crash, the wait itself is what is looked for
		wait = 2*ttl + patience
	}
	if a.wide { // the road is to decide, not somebody's patience
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
	for range times {
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

// one plays a round, and adds it to its cell.
func (c Config) one(ctx context.Context, p *simulate.Player, r search.Round, cell *envelope.Cell) {
	var measured *stats.Stats
	p.Watch = func() []history.Sink {
		measured = stats.New(history.Header{TTL: r.TTL})
		return []history.Sink{measured}
	}
	res := p.Play(ctx, r)
	if res.Err != nil {
		cell.Void++
		return
	}
	s := measured.Summary()
	cell.Rounds++
	for _, f := range s.Faults {
		if f.Bit {
			cell.Faults++
		}
	}
	cell.Saves += res.Report.Evidence.FenceSaves
	found := map[string]int{}
	for _, f := range res.Report.Violations {
		if strings.HasPrefix(f.ID, "S") {
			found[f.ID]++
		}
	}
	cell.Add(found)
	cell.Offered, cell.Served = cell.Offered+s.Demand.Offered, cell.Served+s.Demand.Served
	cell.Longest = max(cell.Longest, s.Fairness.LongestWait)
}
