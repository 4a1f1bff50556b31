package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/resolve"
	"locktorture/faults/testbed"
	"locktorture/lockimpl"
	"locktorture/workload"
	"locktorture/workload/history"
	"locktorture/workload/store"
)

// An environment is everything that a run stands on: nodes, the links to them,
// and the clients at their other ends.
type environment struct {
	cfg     config.Config
	lock    catalogue.Lock
	bed     testbed.Testbed
	why     string // this testbed
	fabric  link.Fabric
	links   map[string]map[string]link.Link // client → node → link
	clients []*client
	factory lockimpl.Factory
	probe   lockimpl.Locker // a client past every link, which contends for nothing

	ledger *workload.Ledger // takes the writes of clients that write by themselves
	roll   roll             // and says when they are due

	mu       sync.Mutex
	findings []string // what child processes did against their protocol, and what else was odd
}

// nodesDir, in a run's directory, is where its servers keep their files.
const nodesDir = "nodes"

// setUp starts the testbed and lays the links. On an error everything that was
// started has ended again.
func setUp(ctx context.Context, cfg config.Config, lock catalogue.Lock, dir string) (r *environment, err error) {
	wiring.SilenceClients()
	r = &environment{cfg: cfg, lock: lock, factory: lock.Factory(cfg), links: map[string]map[string]link.Link{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	r.bed, r.why, err = testbed.Start(ctx, testbed.Config{
		Kind: cfg.Testbed, Nodes: lock.Masters(cfg), Dir: filepath.Join(dir, nodesDir), Persist: cfg.Persist,
		Fsync: fsync(cfg), FakeClock: needs(cfg.Faults, testbed.AbilityClockJump) && testbed.CanFakeClock() == nil,
		Image:    cfg.Image,
		External: testbed.ExternalConfig{Addrs: cfg.Redis, Store: cfg.Store, OwnThisRedis: cfg.OwnRedis},
		Compose:  testbed.ComposeConfig{Addrs: cfg.Redis, Store: cfg.Store, Upstreams: config.ComposeUpstreams()},
	})
	if err != nil {
		return r, err
	}
	if r.fabric, err = newFabric(ctx, cfg); err != nil {
		return r, err
	}
	for i := range cfg.Clients {
		if err := r.addClient(ctx, clientName(i)); err != nil {
			return r, err
		}
	}
	return r, r.bootstrap(ctx)
}

func (r *environment) addClient(ctx context.Context, name string) error {
	links, err := wiring.Open(ctx, r.fabric, name, r.bed.Nodes())
	if err != nil {
		return err
	}
	if links[faults.StoreNode], err = wiring.OpenOne(ctx, r.fabric, name, faults.StoreNode, r.bed.Store()); err != nil {
		return err
	}
	r.links[name] = links
	r.clients = append(r.clients, newClient(r, name))
	return nil
}

// bootstrap admits the brand-new nodes, where the lock asks for that.
func (r *environment) bootstrap(ctx context.Context) (err error) {
	if r.probe, err = r.factory(wiring.Direct(r.bed.Nodes())); err != nil {
		return fmt.Errorf("build lock %s: %w", r.lock.ID, err)
	}
	if b, ok := r.probe.(lockimpl.Bootstrapper); ok {
		return b.Bootstrap(ctx)
	}
	return nil
}

// policy is what the store does with stale tokens.
func (r *environment) policy() store.Policy {
	if fenced(r.cfg, r.lock) {
		return cmp.Or(r.lock.Store, store.Fenced)
	}
	return store.Unfenced
}

func fenced(c config.Config, l catalogue.Lock) bool {
	if c.Fenced != nil {
		return *c.Fenced
	}
	return l.Fences
}

// resolver returns what tells from the links how operations of unknown outcome
// ended. A client in a child process sends past this process's taps.
func (r *environment) resolver(h history.Header) *resolve.Resolver {
	var names []string
	for _, n := range r.bed.Nodes() {
		names = append(names, n.Name())
	}
	resolver := resolve.New(names, h)
	if _, child := r.probe.(childLocker); child {
		return resolver
	}
	for _, c := range r.clients {
		resolver.Watch(c.Client.Name, r.links[c.Client.Name])
	}
	return resolver
}

// notifies reports whether clients subscribe to releases: those of locks that
// can, where they wait.
func notifies(c config.Config, l catalogue.Lock) bool {
	return l.Subscribes && (c.Load.Wait > 0 || c.Load.Mode == workload.ModeFair)
}

func (r *environment) quorum() int { return len(r.bed.Nodes())/2 + 1 }

// close ends links before nodes; it may be called on a half-built environment.
func (r *environment) close() (err error) {
	if r.probe != nil {
		err = r.probe.Close()
	}
	if r.fabric != nil {
		err = errors.Join(err, r.fabric.Close())
	}
	err = errors.Join(err, r.cleanUp(context.Background()))
	if r.bed != nil {
		err = errors.Join(err, r.bed.Close())
	}
	return err
}
