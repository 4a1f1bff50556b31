// Package simulate plays rounds of load and faults in virtual time: the lock, the
// workload, the faults and the judge are those of a run on real servers, while
// network and nodes are in memory. A round is a value, and played again it gives
// the same history, event for event.
package simulate

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/search"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults"
	faultcatalogue "locktorture/faults/catalogue"
	"locktorture/faults/link"
	"locktorture/faults/plan"
	"locktorture/faults/testbed/virtual"
	"locktorture/workload"
	"locktorture/workload/history"
)

// A Result is what one round came to.
type Result struct {
	Header   history.Header // of its history
	Hash     string         // of its history: two plays of one round have the same
	Virtual  time.Duration  // how long it lasted
	Took     time.Duration  // of real time
	Attempts int            // at a lock
	Grants   int            //
	Report   checker.Report // the judge's
	Outcome  search.Outcome // for a search
	Steps    []faults.Spec  // of PlayAgain: the round's, or what comes closest to its schedule on real servers
	Err      error          // trouble of the harness: the round says nothing
}

// A Player plays rounds of one lock, one at a time: what they draw from the
// process's random numbers is theirs alone meanwhile.
type Player struct {
	Lock  catalogue.Lock
	Nodes int // 0: what the lock is made for

	Fenced *bool // whether the store compares tokens; nil: as the lock's page says

	// Even has messages of a healthy network take 2 ms at most, and none come last all
	// the time. What is looked for is then what the faults do.
	Even bool

	// Counts says whether findings of an id are looked for; nil: all are.
	Counts func(id string) bool

	// Twin plays a lock that shows nothing of what is looked for: what it shows in the
	// same round does not count. nil: all counts.
	Twin *Player

	// Delays is added to the seed from which the delays of messages are drawn: with another one,
	// the round is the same but for these.
	Delays uint64

	// Watch are sinks that see the history of the next round.
	Watch func() []history.Sink

	// Hung, when set, is called when a round takes longer than any should, in real
	// time: something in it never waits, so that virtual time stands still. Nothing
	// but the end of the process ends such a round.
	Hung func(r search.Round)
}

// hangs is how long no round takes, on however busy a machine.
const hangs = 3 * time.Minute

// Masters is how many nodes there are.
func (p *Player) Masters() int { return p.Lock.Masters(config.Config{Nodes: p.Nodes}) }

// Supports says why the lock cannot live in virtual time, or nil.
func (p *Player) Supports() error {
	if p.Lock.Nodes == 1 && p.Masters() != 1 && !p.Lock.AnyNodes {
		return fmt.Errorf("it is made for 1 master, not %d", p.Masters())
	}
	if p.Lock.Child {
		return errors.New("it lives in a child process, whose time is real: torture run and torture hunt play it on real servers")
	}
	if why := unfit[p.Lock.ID]; why != "" {
		return errors.New(why + ": torture run and torture hunt play it on real servers")
	}
	l, err := p.Lock.Build(p.Config(search.Round{TTL: time.Second}), p.Masters())
	if err != nil {
		return err
	}
	return l.Close()
}

// unfit are locks that cannot live in a bubble, by id, with the reason.
var unfit = map[string]string{
	"rueidislock":   "rueidis looks at connections and clocks of its own, for which the nodes in memory have no commands (RESP3, CLIENT TRACKING)",
	"renew-limited": "its renewal tries again after an error without a pause, so that virtual time would stand still",
	"failover":      "its flaw is a failover to a replica, and nodes in memory have none",
	"sentinel":      "Redis Sentinel watches its master, and nodes in memory have no replicas",

	"sentinel-min-replicas": "Redis Sentinel watches its master, and nodes in memory have no replicas",
	"cluster":               "nodes in memory are no Redis Cluster",
	"sentinel-wait":         "it waits for replicas, and nodes in memory have none",
}

// playing is held while a round is played.
var playing sync.Mutex

// Play plays a round in a bubble of its own.
func (p *Player) Play(_ context.Context, r search.Round) Result {
	return p.inBubble(r, func(res *Result) {
		p.inWorld(res, r, func(bed *virtual.Bed) link.Fabric { return link.NewVirtual(r.Seed+p.Delays, p.Pace(r), bed.Server) }, func(ctx context.Context, w *world) error {
			steps, err := plan.Build(faultcatalogue.All(), r.Steps, r.TTL)
			if err == nil {
				err = steps.Check(w.target())
			}
			if err != nil {
				return err
			}
			w.last = newLastTurns()
			return w.play(ctx, steps)
		})
	})
}

// inBubble has play fill in what a round came to, in a bubble of its own.
func (p *Player) inBubble(r search.Round, play func(*Result)) (res Result) {
	playing.Lock()
	defer playing.Unlock()
	wiring.SilenceClients()
	defer func(before io.Reader) { crand.Reader = before }(crand.Reader)
	crand.Reader = newReader(r.Seed)
	if p.Hung != nil {
		defer time.AfterFunc(hangs, func() { p.Hung(r) }).Stop()
	}
	began := time.Now()
	err := inBubble(func() { play(&res) })
	res.Took = time.Since(began)
	if res.Err = errors.Join(res.Err, err); res.Err != nil {
		res.Outcome.Void = history.OneLine(res.Err.Error())
	}
	res.Outcome.Took, res.Outcome.Operations = res.Took, res.Attempts
	return res
}

// own are those of a round's findings that count, each of which the twin, in the same
// round, does not show.
func (p *Player) own(ctx context.Context, r search.Round, found []search.Finding) []search.Finding {
	found = slices.DeleteFunc(slices.Clone(found), func(f search.Finding) bool { return p.Counts != nil && !p.Counts(f.ID) })
	if p.Twin == nil || len(found) == 0 {
		return found
	}
	twin := p.Twin.Play(ctx, r).Outcome
	return slices.DeleteFunc(found, func(f search.Finding) bool {
		return twin.Void != "" || slices.ContainsFunc(twin.Findings, func(g search.Finding) bool { return g.ID == f.ID })
	})
}

// inWorld builds the world of a round, on the network that network makes, has play run it
// and fills in what it came to. It is called in a bubble.
func (p *Player) inWorld(res *Result, r search.Round, network func(*virtual.Bed) link.Fabric, play func(context.Context, *world) error) {
	ctx := context.Background()
	w, err := newWorld(ctx, p.Config(r), p.Lock, network)
	defer func() { res.Err = errors.Join(res.Err, w.close()) }()
	if err != nil {
		res.Err = err
		return
	}
	if p.Watch != nil {
		w.order.to = append(w.order.to, p.Watch()...)
	}
	res.Header = w.header()
	began := time.Now()
	err = play(ctx, w)
	res.Virtual = time.Since(began)
	if res.Err = errors.Join(err, w.rec.Err()); res.Err != nil {
		return
	}
	res.Hash, res.Attempts, res.Grants = fmt.Sprintf("%016x", w.order.hash.sum.Sum64()), w.acquire.attempts, w.acquire.grants
	res.Report = w.judge.Finish(ctx, false)
	res.Outcome = outcome(w, r.Steps, res.Report)
}

// Config is the configuration of a round.
func (p *Player) Config(r search.Round) config.Config {
	return r.Over(config.Config{Lock: p.Lock.ID, Nodes: p.Nodes, Fenced: p.Fenced})
}

// A message of a healthy network travels for slowest of a lease at most, and so that a
// client can connect anew and be answered, which takes up to roundTrips, within half of the
// time in which the lock undoes what failed. What takes longer is a fault, and the history
// must say so: a renewal, or an undo, that such a delay outlasts would be compared with the
// lock.
const (
	slowest    = 0.05
	roundTrips = 5 // to dial, to greet, to load scripts, to ask, and one to spare
)

// longest is how long a message of a healthy network travels at most.
func (p *Player) longest(r search.Round) time.Duration {
	most := time.Duration(slowest * float64(r.TTL))
	if p.Lock.UndoWithin != nil {
		most = min(most, p.Lock.UndoWithin(r.TTL)/(4*roundTrips))
	}
	return most
}

// Pace is how long messages travel in a round.
func (p *Player) Pace(r search.Round) link.Pace {
	if p.Even {
		return link.Pace{Least: leastTravel, Spread: 2 * time.Millisecond}
	}
	return drawPace(r, p.longest(r))
}

// leastTravel is how long a message travels at least.
const leastTravel = 60 * time.Microsecond

// drawPace draws it: mostly evenly, sometimes with some that take much longer and
// overtake one another, or with somebody whose messages all come last.
func drawPace(r search.Round, longest time.Duration) link.Pace {
	rng := rand.New(rand.NewPCG(r.Seed, streamPace))
	p := link.Pace{Least: leastTravel, Spread: []time.Duration{100, 400, 2000}[rng.IntN(3)] * time.Microsecond}
	switch rng.IntN(3) {
	case 0:
		p.Slow, p.Slower = []float64{0.001, 0.01, 0.05}[rng.IntN(3)], []int{10, 100}[rng.IntN(2)]
		p.Slower = min(p.Slower, max(1, int(longest/(p.Least+p.Spread))))
	case 1:
		p.Ranks = ranks(r, rng, longest)
	}
	return p
}

// ranks draws who comes last, and when that changes.
func ranks(r search.Round, rng *rand.Rand, longest time.Duration) *link.Ranks {
	of := []link.Ranked{link.Clients, link.Nodes, link.Flows}[rng.IntN(3)]
	last := time.Duration([]float64{0.1, 0.4, 1}[rng.IntN(3)] * float64(longest))
	falls := make([]time.Duration, rng.IntN(6))
	for i := range falls {
		falls[i] = time.Duration(rng.Int64N(int64(r.Duration)))
	}
	slices.Sort(falls)
	return &link.Ranks{Of: of, Longest: last, Falls: falls}
}

const streamPace = 3

// newReader returns random bytes that depend on a seed: what locks draw their
// owner tokens and the seeds of their pauses from.
func newReader(seed uint64) io.Reader {
	var key [32]byte
	rng := rand.New(rand.NewPCG(seed, 4))
	for i := range key {
		key[i] = byte(rng.Uint32())
	}
	return &lockedReader{source: rand.NewChaCha8(key)}
}

type lockedReader struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

// Read implements io.Reader.
func (l *lockedReader) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.source.Read(b)
}

// outcome is what a round showed, in the terms of a search.
func outcome(w *world, specs []faults.Spec, report checker.Report) search.Outcome {
	var o search.Outcome
	o.Cover(w.cover, w.cover.Cells())
	o.Fired, o.Near = w.started.Moments(specs), w.near.Misses(w.cover.NearMisses().Longest)
	for _, f := range report.Violations {
		found := search.Finding{ID: f.ID, Name: f.Name, Blame: f.Blame, Text: f.Text}
		if n := len(f.Witness); n > 0 && f.Witness[n-1] < len(w.order.times) {
			found.At = w.order.times[f.Witness[n-1]]
		}
		o.Findings = append(o.Findings, found)
	}
	return o
}

// Fits says why a round cannot be played.
func (p *Player) Fits(r search.Round) error {
	cfg := p.Config(r)
	load := cfg.Workload()
	if err := load.Validate(); err != nil {
		return err
	}
	t := p.model(r)
	steps, err := plan.Build(faultcatalogue.All(), r.Steps, r.TTL)
	if err != nil {
		return err
	}
	return errors.Join(steps.Check(t), plan.Fit(steps, r.Duration, t))
}

// model is a target that stands for those of rounds like r.
func (p *Player) model(r search.Round) *faults.Target {
	n := p.Lock.Masters(p.Config(r))
	t := &faults.Target{
		Testbed: virtual.New(n, 0), Quorum: n/2 + 1, TTL: r.TTL, Notifies: p.Lock.Subscribes && (r.Load.Wait > 0 || r.Load.Mode == workload.ModeFair),
		Link: func(string, string) link.Link { return nil }, Fabric: link.NewVirtual(0, link.Pace{}, nil),
	}
	if p.Lock.Quarantine != nil {
		t.Quarantine = p.Lock.Quarantine(p.Config(r))
	}
	for i := range r.Clients {
		t.Clients = append(t.Clients, newClient(&world{lock: p.Lock}, i))
	}
	return t
}

// Space is what rounds of the lock are drawn from: every fault that can be had in
// memory, and with beyond also those that break an assumption of correct locks.
func (p *Player) Space(beyond bool) search.Space {
	t := p.model(search.Round{Clients: 2, TTL: time.Second, Load: config.Load{Wait: time.Second}})
	s := search.Space{Nodes: len(t.Testbed.Nodes()), Fits: p.Fits, Modes: p.modes(), Moments: faults.KeyMoments(), Model: p.model}
	entries := faultcatalogue.All()
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		if e.New(e.Default).Supports(t) == nil && name != "starve-cpu" && (beyond || p.bears(e)) {
			s.Faults = append(s.Faults, name)
		}
	}
	for _, c := range p.commands() {
		s.Moments = append(s.Moments, faults.Reply(c, ""))
	}
	if p.Lock.UndoWithin != nil {
		s.Settles = p.Lock.UndoWithin(time.Second)
	}
	return s
}

// bears reports whether a correct lock that is made as this one must live with a fault.
func (p *Player) bears(e faultcatalogue.Entry) bool {
	switch {
	case e.Beyond == "" || e.Name == "split-vote":
		return true
	case p.Lock.Quarantine != nil:
		return strings.HasPrefix(e.Beyond, "nodes do not forget")
	}
	return p.Masters() > 1 && search.Forgets(e.Name)
}

// commands are those that the lock sends: the moments to which faults can be locked
// that are its own.
func (p *Player) commands() (all []string) {
	playing.Lock()
	defer playing.Unlock()
	wiring.SilenceClients()
	cfg := p.Config(search.Round{TTL: time.Second})
	factory := p.Lock.Factory(cfg)
	if p.Lock.WithClock != nil {
		factory = p.Lock.WithClock(time.Now)
	}
	err := inBubble(func() {
		bed := virtual.New(p.Masters(), 1)
		all = wiring.Commands(context.Background(), factory, bed.Nodes())
		time.Sleep(detached)
		_ = bed.Close() // nothing of it can go wrong
	})
	if err != nil {
		return nil
	}
	return all
}

// modes are those that the lock can serve.
func (p *Player) modes() (all []workload.Mode) {
	l, err := p.Lock.Build(p.Config(search.Round{TTL: time.Second}), p.Lock.Masters(p.Config(search.Round{})))
	if err != nil {
		return nil
	}
	defer l.Close()
	for _, m := range []workload.Mode{workload.ModeExclusive, workload.ModeRW, workload.ModeReentrant, workload.ModeFair, workload.ModeMulti, workload.ModeMixed} {
		if workload.Lacks(m, l) == nil {
			all = append(all, m)
		}
	}
	return all
}
