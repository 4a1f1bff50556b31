package testbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"locktorture/faults/testbed/server"
)

// KindSentinel is the name of the testbed of one master with replicas that Redis
// Sentinel watches.
const KindSentinel = "sentinel"

// MasterName is the name under which the Sentinels of a testbed know its master.
const MasterName = "torture"

// A deployment has so many servers, and so many Sentinels, of which a majority must
// agree.
const (
	sentinelServers = 3
	sentinelCount   = 3
	sentinelQuorum  = sentinelCount/2 + 1
)

// Timings of the Sentinels. The last of them is slower to call a master down: when the
// others stand for election at once, it has yet to vote, and one of them gets its
// vote. Without that every third or so election of three had no winner, and the next
// comes two failover timeouts later.
const (
	downAfter       = time.Second
	lastDownAfter   = 2 * time.Second
	failoverTimeout = 2 * time.Second
)

// sentinelTimings, in ms, are those that no configuration sets, but SENTINEL DEBUG,
// where the server knows it (Redis 7.0): an old master is a replica about 1 s after its
// return, in place of 10. The period of pings stays as it is: what a Sentinel has heard
// of a replica more than five of them ago does not count, and it asks once a second. A
// Sentinel that stood still for 2 s, as on a crowded machine, does nothing for the tilt
// period, 30 s as a rule.
var sentinelTimings = []string{
	"ASK-PERIOD", "100", "INFO-PERIOD", "200", "PUBLISH-PERIOD", "200", "MIN-LINK-RECONNECT-PERIOD", "100", "TILT-PERIOD", "2000",
}

// Sentinels is a Deployment of one master that Redis Sentinel watches.
type Sentinels interface {
	Deployment

	// Sentinels are the addresses (host:port) of those who know the master by name.
	Sentinels() (name string, addrs []string)
}

// A SentinelConfig describes a testbed of one master, two replicas and three
// Sentinels, all of them real servers: processes, or containers.
type SentinelConfig struct {
	Dir, Binary string        // see ProcessConfig
	Image       string        // of containers; empty: processes
	Persist     bool          // append-only file on the servers
	Fsync       Fsync         // with Persist; empty: FsyncAlways
	MinReplicas int           // min-replicas-to-write, with a min-replicas-max-lag of 1 s; 0: neither is set
	Ready       time.Duration // how long one server, and then their agreement, may take; zero: 30 s

	Announce Announce
}

// A sentinelBed is the deployment of a SentinelConfig.
type sentinelBed struct {
	serverBed
	cfg       SentinelConfig
	sentinels []deployable
	announced map[string]string // by node
}

// StartSentinel starts the servers and the Sentinels of c, and returns when the
// replicas have caught up and every Sentinel knows all others. What outlives the
// calling process, and for how long: see StartProcess and StartContainer.
func StartSentinel(ctx context.Context, c SentinelConfig) (Testbed, error) {
	if c.MinReplicas < 0 || c.MinReplicas >= sentinelServers {
		return nil, fmt.Errorf("start sentinel testbed: min-replicas-to-write %d: there are %d replicas", c.MinReplicas, sentinelServers-1)
	}
	c.Ready = cmp.Or(c.Ready, deploymentReady)
	servers, err := newServerBed(ctx, c.Image, ProcessConfig{
		Nodes: sentinelServers, Dir: c.Dir, Binary: c.Binary, Persist: c.Persist, Fsync: c.Fsync, Ready: c.Ready,
	})
	if err != nil {
		return nil, fmt.Errorf("start sentinel testbed: %w", err)
	}
	b := &sentinelBed{serverBed: servers, cfg: c, announced: map[string]string{}}
	if err := b.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start sentinel testbed: %w", err), b.Close())
	}
	return b, nil
}

func (b *sentinelBed) start(ctx context.Context) error {
	settings := []string{"repl-ping-replica-period 1"}
	if b.cfg.MinReplicas > 0 {
		settings = append(settings, fmt.Sprintf("min-replicas-to-write %d", b.cfg.MinReplicas), "min-replicas-max-lag 1")
	}
	for _, n := range b.servers() {
		n.assign(deploymentConfig{elected: true, settings: settings})
	}
	if err := startMembers(ctx, b.serverBed); err != nil {
		return err
	}
	if err := b.replicate(ctx); err != nil {
		return err
	}
	if err := b.startSentinels(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.cfg.Ready)
	defer cancel()
	return b.Settle(ctx)
}

// servers are the master and its replicas, at first in this order.
func (b *sentinelBed) servers() []deployable { return b.members()[:sentinelServers] }

// replicate announces every server, makes all but the first replicas of it, and has each write
// its configuration.
func (b *sentinelBed) replicate(ctx context.Context) error {
	for i, n := range b.servers() {
		addr, err := announce(ctx, n, b.cfg.Announce, "replica")
		if err != nil {
			return err
		}
		b.announced[n.Name()] = addr
		if i > 0 {
			if err := follow(ctx, n, b.announced[b.servers()[0].Name()], b.cfg.Ready); err != nil {
				return fmt.Errorf("%s: %w", n.Name(), err)
			}
		}
		if _, err := Do(ctx, n, "CONFIG", "REWRITE"); err != nil {
			return fmt.Errorf("%s: %w", n.Name(), err)
		}
	}
	return nil
}

// startSentinels starts the Sentinels, which find the replicas and one another by
// the master.
func (b *sentinelBed) startSentinels(ctx context.Context) error {
	host, port, err := net.SplitHostPort(b.announced[b.servers()[0].Name()])
	if err != nil {
		return err
	}
	for i := range sentinelCount {
		name, after := fmt.Sprintf("s%d", i+1), downAfter
		if i == sentinelCount-1 {
			after = lastDownAfter
		}
		s := b.add(name)
		s.assign(deploymentConfig{sentinel: true, elected: true, settings: []string{
			fmt.Sprintf("sentinel monitor %s %s %s %d", MasterName, host, port, sentinelQuorum),
			fmt.Sprintf("sentinel down-after-milliseconds %s %d", MasterName, after.Milliseconds()),
			fmt.Sprintf("sentinel failover-timeout %s %d", MasterName, failoverTimeout.Milliseconds()),
			fmt.Sprintf("sentinel parallel-syncs %s %d", MasterName, sentinelServers-1),
		}})
		b.sentinels = append(b.sentinels, s)
	}
	if err := startAll(ctx, b.sentinels); err != nil {
		return err
	}
	for _, s := range b.sentinels {
		_, err := Do(ctx, s, append([]string{"SENTINEL", "DEBUG"}, sentinelTimings...)...)
		if said := server.ReplyError(""); err != nil && !errors.As(err, &said) { // an older one has its own timings
			return fmt.Errorf("%s: %w", s.Name(), err)
		}
	}
	return nil
}

// Name implements Testbed.
func (b *sentinelBed) Name() string { return KindSentinel }

// Sentinels implements Sentinels.
func (b *sentinelBed) Sentinels() (name string, addrs []string) {
	for _, s := range b.sentinels {
		addrs = append(addrs, s.Addr())
	}
	return MasterName, addrs
}

// Announced implements Deployment.
func (b *sentinelBed) Announced(node string) string { return b.announced[node] }

// Shard implements Deployment: there is one.
func (b *sentinelBed) Shard(context.Context, string) (int, error) { return 0, nil }

// Masters implements Deployment.
func (b *sentinelBed) Masters(ctx context.Context) ([]Node, error) {
	master, err := b.master(ctx)
	if err != nil {
		return nil, err
	}
	return []Node{master}, nil
}

// master is the node that most of the Sentinels name.
func (b *sentinelBed) master(ctx context.Context) (Node, error) {
	votes := map[string]int{}
	var errs []error
	for _, s := range b.sentinels {
		addr, err := masterOf(ctx, s)
		if votes[addr]++; err == nil && votes[addr] >= sentinelQuorum {
			return b.announcedAs(addr)
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("the Sentinels do not agree on a master: %w", errors.Join(errs...))
}

func (b *sentinelBed) announcedAs(addr string) (Node, error) {
	for _, n := range b.Nodes() {
		if b.announced[n.Name()] == addr {
			return n, nil
		}
	}
	return nil, fmt.Errorf("the Sentinels name a master at %s, where none of this testbed is", addr)
}

// masterOf asks one Sentinel for the master's address.
func masterOf(ctx context.Context, s Node) (string, error) {
	ask, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	reply, err := Do(ask, s, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", MasterName)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.Name(), err)
	}
	pair, _ := reply.([]any)
	if len(pair) != 2 {
		return "", fmt.Errorf("%s knows no master: %v", s.Name(), reply)
	}
	return net.JoinHostPort(fmt.Sprint(pair[0]), fmt.Sprint(pair[1])), nil
}

// Settle implements Deployment.
func (b *sentinelBed) Settle(ctx context.Context) error { return settle(ctx, b.unsettled) }

// unsettled is an error that says what is not in order, or nil.
func (b *sentinelBed) unsettled(ctx context.Context) error {
	master, err := b.master(ctx)
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(b.announced[master.Name()])
	if err != nil {
		return err
	}
	for _, n := range b.servers() {
		if err := checkServer(ctx, n, n.Name() == master.Name(), sentinelServers-1, port); err != nil {
			return err
		}
	}
	for _, s := range b.sentinels {
		if err := checkSentinel(ctx, s, b.announced[master.Name()]); err != nil {
			return err
		}
	}
	return nil
}

// checkServer checks that a server is the master with all its replicas, or a replica that has
// everything from the master at port.
func checkServer(ctx context.Context, n Node, master bool, replicas int, port string) error {
	ask, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	f, err := info(ask, n)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", n.Name(), err)
	case master && (f["role"] != "master" || f["connected_slaves"] != strconv.Itoa(replicas)):
		return fmt.Errorf("%s is a master by election, and has the role %s with %s replicas", n.Name(), f["role"], f["connected_slaves"])
	case !master && (f["role"] != "slave" || f["master_port"] != port || f["master_link_status"] != "up"):
		return fmt.Errorf("%s has the role %s, and its link to the master is %s", n.Name(), f["role"], cmp.Or(f["master_link_status"], "missing"))
	}
	return nil
}

// checkSentinel checks that a Sentinel names the master at addr, finds it well, and knows all
// replicas and Sentinels.
func checkSentinel(ctx context.Context, s Node, addr string) error {
	ask, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	reply, err := Do(ask, s, "SENTINEL", "MASTER", MasterName)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name(), err)
	}
	list, _ := reply.([]any)
	f := map[string]string{}
	for i := 0; i+1 < len(list); i += 2 {
		f[fmt.Sprint(list[i])] = fmt.Sprint(list[i+1])
	}
	named := net.JoinHostPort(f["ip"], f["port"])
	if named != addr || f["flags"] != "master" || f["num-slaves"] != strconv.Itoa(sentinelServers-1) || f["num-other-sentinels"] != strconv.Itoa(sentinelCount-1) {
		return fmt.Errorf("%s knows a master at %s (%s), %s replicas and %s other Sentinels", s.Name(), named, f["flags"], f["num-slaves"], f["num-other-sentinels"])
	}
	return nil
}
