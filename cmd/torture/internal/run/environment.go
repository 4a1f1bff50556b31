package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"sync"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/resolve"
	"locktorture/faults/testbed"
	"locktorture/faults/testbed/server"
	"locktorture/lockimpl"
	"locktorture/lockimpl/child"
	"locktorture/workload"
	"locktorture/workload/history"
	"locktorture/workload/store"
)

// An environment is what a run consists of besides its load: nodes, the links to them, and the
// clients at their other ends.
type environment struct {
	cfg         config.Config
	lock        catalogue.Lock
	bed         testbed.Testbed
	why         string // this testbed
	fabric      link.Fabric
	pace        *link.Pace                      // of messages; nil: the network's own
	links       map[string]map[string]link.Link // client → node → link
	peers       map[string]link.Link            // to each node of a deployment, from the others
	relays      map[string][]*server.Relay      // by client, to the Sentinels, where clients are child processes
	ingresses   bool                            // clients are child processes, and come in by ingresses that are watched
	clients     []*client
	drive       driver // has the clients act
	build       child.Starter
	probe       lockimpl.Locker // a client past every link, which contends for nothing
	probeClosed sync.Once       // with the probe
	connecting  []string        // keys that the lock wrote when the probe connected

	ledger   *workload.Ledger // takes the writes of clients that write by themselves
	acquires openAcquires     // and says when they are due

	mu       sync.Mutex
	findings []string // what child processes did against their protocol, and what else was odd
}

// NodesDir, in a run's directory, is where its servers keep their files.
const NodesDir = "nodes"

func newEnvironment(cfg config.Config, lock catalogue.Lock) *environment {
	wiring.SilenceClients()
	return &environment{cfg: cfg, lock: lock, build: lock.Starter(cfg), links: map[string]map[string]link.Link{}, peers: map[string]link.Link{}}
}

// setUp starts the testbed and lays the links; with afar, the clients and their links
// are those of other processes. Also after an error, the caller closes e.
func (e *environment) setUp(ctx context.Context, dir string, afar bool) (err error) {
	cfg, external := e.cfg, testbed.ExternalConfig{}
	if cfg.Testbed != testbed.KindCompose {
		if external, err = cfg.External(); err != nil {
			return err
		}
	}
	e.bed, e.why, err = testbed.Start(ctx, testbed.Config{
		Kind: cfg.Testbed, Nodes: e.lock.Masters(cfg), Dir: filepath.Join(dir, NodesDir), Persist: cfg.Persist,
		Fsync: fsync(cfg), FakeClock: needs(cfg.Faults, testbed.AbilityClockJump) && testbed.CanFakeClock() == nil,
		Image: cfg.Image, MinReplicas: cfg.MinReplicas, Announce: e.announce,
		External: external,
		Compose:  testbed.ComposeConfig{Addrs: cfg.Redis, Store: cfg.Store, Upstreams: config.ComposeUpstreams()},
	})
	if err != nil {
		return err
	}
	if err := e.openFabric(ctx); err != nil {
		return err
	}
	if !afar {
		if err := e.addClients(ctx, clientNames(cfg.Clients)); err != nil {
			return err
		}
	}
	before, err := e.keySpace(ctx)
	if err != nil {
		return err
	}
	if err := e.bootstrap(ctx); err != nil {
		return err
	}
	behind, err := e.keySpace(ctx)
	e.connecting = behind.without(before.names()).names()
	return err
}

func (e *environment) addClients(ctx context.Context, names []string) error {
	e.drive = localDriver{e}
	for _, name := range names {
		if err := e.addClient(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// openFabric makes the links' fabric, unless there is one.
func (e *environment) openFabric(ctx context.Context) (err error) {
	if e.fabric == nil {
		e.fabric, err = newFabric(ctx, e.cfg, e.pace)
	}
	return err
}

// announce opens the link by which the other servers of a deployment reach a node,
// and returns its address.
func (e *environment) announce(ctx context.Context, name, addr string) (string, error) {
	if err := e.openFabric(ctx); err != nil {
		return "", err
	}
	l, err := e.fabric.Open(ctx, faults.Peers, name, addr)
	if err != nil {
		return "", err
	}
	e.peers[name] = l
	return wiring.ListenAddr(l), nil
}

func (e *environment) addClient(ctx context.Context, name string) error {
	links, err := wiring.Open(ctx, e.fabric, name, e.bed.Nodes())
	if err != nil {
		return err
	}
	if links[faults.StoreNode], err = wiring.OpenOne(ctx, e.fabric, name, faults.StoreNode, e.bed.Store()); err != nil {
		return err
	}
	e.links[name] = links
	e.clients = append(e.clients, newClient(e, name))
	return nil
}

// bootstrap admits the brand-new nodes, where the lock asks for that. A lock that
// panics meanwhile is a *workload.PanicError.
func (e *environment) bootstrap(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = workload.Caught("probe", r)
		}
	}()
	if e.probe, err = e.build(ctx, wiring.Probe(e.bed)); err != nil {
		return fmt.Errorf("build lock %s: %w", e.lock.ID, err)
	}
	if c, child := e.probe.(childLocker); child {
		e.lock.Fences = c.Can("fence")
		if err := errors.Join(e.openIngresses(ctx), e.openRelays(ctx)); err != nil {
			return err
		}
	}
	if b, ok := e.probe.(lockimpl.Bootstrapper); ok {
		return wiring.Bootstrap(ctx, b)
	}
	return nil
}

// openIngresses opens links through which child processes dial the nodes, so that this process
// sees what they send. They write by themselves, and need no link to the store.
func (e *environment) openIngresses(ctx context.Context) (err error) {
	for _, links := range e.links {
		toNodes := maps.Clone(links)
		delete(toNodes, faults.StoreNode)
		if e.ingresses, err = wiring.OpenIngresses(ctx, toNodes); err != nil || !e.ingresses {
			return err
		}
	}
	return nil
}

// openRelays gives child processes Sentinels that name the addresses of their own links.
func (e *environment) openRelays(ctx context.Context) (err error) {
	d, watched := e.bed.(testbed.Sentinels)
	if !watched {
		return nil
	}
	e.relays = map[string][]*server.Relay{}
	for client, links := range e.links {
		reach := func(node string) string { return wiring.ListenAddr(links[node]) }
		if e.relays[client], err = wiring.OpenRelays(ctx, d, reach); err != nil {
			return err
		}
	}
	return nil
}

// policy is what the store does with stale tokens.
func (e *environment) policy() store.Policy {
	if fenced(e.cfg, e.lock) {
		return cmp.Or(e.lock.Store, store.Fenced)
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
// ended. A client in a child process that has no ingress sends past this process's
// taps; what the master of a deployment has executed, a promotion may undo.
func (e *environment) resolver(h history.Header) *resolve.Resolver {
	var names []string
	for _, n := range e.bed.Nodes() {
		names = append(names, n.Name())
	}
	resolver := resolve.New(names, h)
	_, child := e.probe.(childLocker)
	if _, deployed := e.bed.(testbed.Deployment); deployed || child && !e.ingresses {
		return resolver
	}
	for _, c := range e.clients {
		resolver.Watch(c.Client.Name, e.links[c.Client.Name])
	}
	return resolver
}

// notifies reports whether clients subscribe to releases: those of locks that
// can, where they wait.
func notifies(c config.Config, l catalogue.Lock) bool {
	return l.Subscribes && (c.Load.Wait > 0 || c.Load.Mode == workload.ModeFair)
}

func (e *environment) quorum() int { return e.masters()/2 + 1 }

// masters is how many independent masters the lock runs on: those of a deployment are
// one store.
func (e *environment) masters() int {
	if e.bed == nil { // it did not start
		return e.lock.Masters(e.cfg)
	}
	if _, deployed := e.bed.(testbed.Deployment); deployed {
		return 1
	}
	return len(e.bed.Nodes())
}

// keepers are the nodes that hold the lock's keys: all, or the masters of a deployment
// at this moment.
func (e *environment) keepers(ctx context.Context) ([]testbed.Node, error) {
	d, deployed := e.bed.(testbed.Deployment)
	if !deployed {
		return e.bed.Nodes(), nil
	}
	return d.Masters(ctx)
}

// keeper is a node that stores key: the first, or the master of its shard.
func (e *environment) keeper(ctx context.Context, key string) (testbed.Node, error) {
	nodes, err := e.keepers(ctx)
	if d, deployed := e.bed.(testbed.Deployment); deployed && err == nil {
		var shard int
		if shard, err = d.Shard(ctx, key); err == nil {
			return nodes[shard], nil
		}
	}
	if err != nil {
		return nil, err
	}
	return nodes[0], nil
}

// closeProbe closes the probe, once. It records what a child process did against its protocol.
func (e *environment) closeProbe() (err error) {
	e.probeClosed.Do(func() {
		if e.probe == nil {
			return
		}
		if err = e.probe.Close(); err != nil {
			err = fmt.Errorf("close the probe: %w", err)
		}
		if p, is := e.probe.(childLocker); is {
			for _, f := range p.Findings() {
				e.find("the probe's child: " + f)
			}
		}
	})
	return err
}

// close ends links before nodes; it may be called on a half-built environment.
func (e *environment) close() (err error) {
	err = e.closeProbe()
	for _, relays := range e.relays {
		for _, r := range relays {
			err = errors.Join(err, r.Close())
		}
	}
	if e.fabric != nil {
		err = errors.Join(err, e.fabric.Close())
	}
	err = errors.Join(err, e.cleanUp(context.Background()))
	if e.bed != nil {
		err = errors.Join(err, e.bed.Close())
	}
	return err
}
