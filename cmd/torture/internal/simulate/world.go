package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/search"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/testbed/virtual"
	"locktorture/faults/watch"
	"locktorture/lockimpl"
	"locktorture/workload"
	"locktorture/workload/history"
	"locktorture/workload/history/coverage"
	"locktorture/workload/sample"
	"locktorture/workload/store"
)

// A world is everything that one round stands on. It lives in one bubble.
type world struct {
	cfg     config.Config
	lock    catalogue.Lock
	bed     *virtual.Bed
	fabric  link.Fabric
	links   map[string]map[string]link.Link // client → node → link
	clients []*client
	probe   lockimpl.Locker // a client past every link, which contends for nothing

	rec     *history.Recorder
	order   *ordered
	watch   *watch.Observer
	judge   *checker.Judge
	cover   *coverage.Table
	near    *search.Nearness
	started search.Started
	acquire counter
	last    *lastTurns // nil where somebody else decides who acts when
}

// newWorld builds a world whose links are of the fabric that network makes. close must be called, also after an error.
func newWorld(ctx context.Context, cfg config.Config, lock catalogue.Lock, network func(*virtual.Bed) link.Fabric) (w *world, err error) {
	nodes := lock.Masters(cfg)
	w = &world{cfg: cfg, lock: lock, bed: virtual.New(nodes, cfg.Seed), links: map[string]map[string]link.Link{}, watch: watch.New(), started: search.Started{}}
	w.fabric = network(w.bed)
	for i := range cfg.Clients {
		c := newClient(w, i)
		if w.links[c.Name()], err = wiring.Open(ctx, w.fabric, c.Name(), w.bed.Nodes()); err != nil {
			return w, err
		}
		if w.links[c.Name()][faults.StoreNode], err = wiring.OpenOne(ctx, w.fabric, c.Name(), faults.StoreNode, w.bed.Store()); err != nil {
			return w, err
		}
		w.clients = append(w.clients, c)
	}
	if w.probe, err = lock.Factory(cfg)(wiring.Direct(w.bed.Nodes())); err != nil {
		return w, fmt.Errorf("build lock %s: %w", lock.ID, err)
	}
	if b, can := w.probe.(lockimpl.Bootstrapper); can {
		if err := b.Bootstrap(ctx); err != nil {
			return w, fmt.Errorf("admit nodes: %w", err)
		}
	}
	h := w.header()
	w.judge, w.cover, w.near = checker.New(h, checker.Options{OurStore: true, Limit: 20}), coverage.New(h), search.NewNearness(h)
	w.order = newOrdered(w.judge, w.cover, w.near, w.started, &w.acquire)
	w.rec = history.NewRecorder(w.watch, w.order)
	return w, nil
}

// header is what the judge must know.
func (w *world) header() history.Header {
	h := history.Header{
		Type: "history", Version: history.Version, Scenario: "simulate", Lock: w.cfg.Lock, Seed: w.cfg.Seed,
		Nodes: len(w.bed.Nodes()), Quorum: w.quorum(), TTL: w.cfg.TTL, Fenced: w.fenced(), Began: time.Now(),
	}
	w.lock.Promises(&h)
	return h
}

func (w *world) quorum() int { return len(w.bed.Nodes())/2 + 1 }

func (w *world) fenced() bool {
	if w.cfg.Fenced != nil {
		return *w.cfg.Fenced
	}
	return w.lock.Fences
}

// policy is what the store does with stale tokens.
func (w *world) policy() store.Policy {
	if w.fenced() {
		return cmp.Or(w.lock.Store, store.Fenced)
	}
	return store.Unfenced
}

// target is the world as the nemesis sees it.
func (w *world) target() *faults.Target {
	t := &faults.Target{
		Testbed: w.bed, Watch: w.watch, Quorum: w.quorum(), TTL: w.cfg.TTL, Load: w.cfg.Duration, Fabric: w.fabric,
		Link:     func(client, node string) link.Link { return w.links[client][node] },
		Notifies: w.lock.Subscribes && (w.cfg.Load.Wait > 0 || w.cfg.Load.Mode == workload.ModeFair),
	}
	mode := w.cfg.Load.Mode
	t.Reads, t.Reenters = workload.Includes(mode, workload.ModeRW, w.probe), workload.Includes(mode, workload.ModeReentrant, w.probe)
	t.Extends = workload.Extends(w.probe)
	if lister, can := w.probe.(lockimpl.KeyLister); can {
		t.LeaseKeys = lister.LeaseKeys
	}
	if w.lock.Quarantine != nil {
		t.Quarantine = w.lock.Quarantine(w.cfg)
	}
	for _, c := range w.clients {
		t.Clients = append(t.Clients, c)
	}
	return t
}

// play runs the phases of a round, as torture run does: load with faults,
// everything healed, a healthy final phase, and the truth as store and nodes
// tell it.
func (w *world) play(ctx context.Context, steps faults.Schedule) error {
	cfg, clients := w.cfg.Workload(), w.contenders()
	stop := w.lookAt(ctx)
	defer stop()
	if err := errors.Join(w.mainPhase(ctx, cfg, clients, steps), w.fabric.Reset(ctx)); err != nil {
		return err
	}
	final := cfg
	if w.cfg.Seed&finalBusy == 0 {
		final.Think = workload.Fixed(max(cfg.Think.Mean, cfg.LeasesEnd()/finalTurns))
	}
	if err := workload.RunFinal(ctx, final, clients, w.rec); err != nil {
		return err
	}
	stop()
	var nodes []workload.Node
	for _, n := range w.bed.Nodes() {
		nodes = append(nodes, n)
	}
	var lacks *workload.LacksError
	if _, err := workload.Leftovers(ctx, cfg, w.probe, nodes, w.rec); err != nil && !errors.As(err, &lacks) {
		return err
	}
	return w.audit(ctx)
}

// In the final phase each client takes a key finalTurns times, about: every key several
// times, which is what leftovers need to show. Where the seed has the bit finalBusy it
// goes on as busily as before, which costs most of a round's time: what only contention
// shows, such as a livelock, is judged in that phase alone.
const (
	finalTurns = 24
	finalBusy  = 2
)

// lookAt has the nodes looked at, as in a run on real servers, until stop is called, which
// may be called twice: what failed operations leave behind for a lease, and a waiter that
// nobody wakes, show in nothing else. Looks come at instants at which nothing else does.
func (w *world) lookAt(ctx context.Context) (stop func()) {
	lister, can := w.probe.(lockimpl.KeyLister)
	if !can {
		return func() {}
	}
	load := w.cfg.Workload()
	cfg := sample.Config{TTL: load.TTL, Grain: grain}
	for n := range load.Keys {
		for _, name := range lister.LeaseKeys(load.Key(n)) {
			cfg.Keys = append(cfg.Keys, sample.Key{Resource: load.Key(n), Name: name})
		}
	}
	for _, n := range w.bed.Nodes() {
		cfg.Nodes = append(cfg.Nodes, n)
	}
	ctx, end := context.WithCancel(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		if (&turns{own: lookTurn}).next(ctx) {
			_ = sample.Watch(ctx, cfg, w.rec) // nodes in memory forbid nothing
		}
	})
	return func() {
		end()
		looking.Wait()
	}
}

// mainPhase runs load and nemesis side by side. When the load is over the nemesis
// heals and stops.
func (w *world) mainPhase(ctx context.Context, cfg workload.Config, clients []*workload.Client, steps faults.Schedule) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var loaded, hurt error
	var both sync.WaitGroup
	both.Go(func() {
		defer cancel()
		loaded = workload.Run(ctx, cfg, clients, w.rec)
	})
	both.Go(func() {
		rng := rand.New(rand.NewPCG(w.cfg.Seed, streamNemesis))
		if _, hurt = faults.Run(ctx, apart(steps), w.target(), w.rec, rng); hurt != nil {
			cancel()
		}
	})
	both.Wait()
	return errors.Join(loaded, hurt)
}

// streamNemesis is the stream of the seed from which faults draw, as in a run on
// real servers.
const streamNemesis = 2

// StepsApart is how much later than its moment the first step of a schedule acts, or is healed, and
// each after the one before.
const StepsApart = 5 * time.Microsecond

// apart gives each step instants of its own: what waits for one moment must not
// act at one instant.
func apart(steps faults.Schedule) faults.Schedule {
	steps = slices.Clone(steps)
	for i := range steps {
		own := time.Duration(i+1) * StepsApart
		steps[i].When.After += own + time.Duration(i)
		steps[i].Lag = own
		if steps[i].When.On != "" {
			steps[i].When.Then += own
		}
	}
	return steps
}

// audit reads the store's own log, past every link, and ends the history.
func (w *world) audit(ctx context.Context) error {
	direct := store.Open(w.bed.Store().Dial, w.policy())
	err := errors.Join(workload.RecordAudit(ctx, direct, w.rec), direct.Close())
	w.rec.Append(history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: history.PhaseEnd})
	w.order.flush()
	return err
}

func (w *world) contenders() []*workload.Client {
	var all []*workload.Client
	for _, c := range w.clients {
		all = append(all, c.Client)
	}
	return all
}

// close ends clients, links and nodes.
func (w *world) close() error {
	var errs []error
	for _, c := range w.clients {
		errs = append(errs, c.Close())
	}
	if w.probe != nil {
		errs = append(errs, w.probe.Close())
	}
	if w.last != nil {
		w.last.close()
	}
	errs = append(errs, w.fabric.Close())
	time.Sleep(detached)
	return errors.Join(append(errs, w.bed.Close())...)
}

// detached is how long a dial of go-redis may go on in a goroutine of its own
// after its client was closed.
const detached = 10 * time.Second

// A counter counts what a round was.
type counter struct{ attempts, grants int }

// Event implements history.Sink.
func (c *counter) Event(e *history.Event) {
	if e.Op != history.Acquire {
		return
	}
	switch e.Kind {
	case history.Invoke:
		c.attempts++
	case history.OK:
		c.grants++
	}
}
