package testbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// KindCluster is the name of the testbed of a Redis Cluster.
const KindCluster = "cluster"

// A cluster has so many shards, of a master and a replica each, and so many slots, by
// which keys belong to shards.
const (
	clusterShards  = 3
	clusterServers = 2 * clusterShards
	clusterSlots   = 16384
)

// clusterTimeout is how long a server must be silent for the others to count it as down.
const clusterTimeout = time.Second

// A Cluster is a Deployment whose masters share the keys by slots.
type Cluster interface {
	Deployment

	// Slot is the slot of key, from 0: of the part in braces, where it has one.
	Slot(key string) int
}

// A ClusterConfig describes a testbed of three masters and three replicas in cluster
// mode, all of them real servers of Redis 7.0 or later: processes, or containers.
type ClusterConfig struct {
	Dir, Binary string        // see ProcessConfig
	Image       string        // of containers; empty: processes
	Persist     bool          // append-only file on the servers
	Fsync       Fsync         // with Persist; empty: FsyncAlways
	Ready       time.Duration // how long one server, and then their agreement, may take; zero: 30 s
	Announce    Announce      // for clients and replication; the servers' own bus goes past it
}

// A clusterBed is the deployment of a ClusterConfig. At first n1 to n3 are the masters, and n4
// to n6 replicate them in this order. A shard always consists of the same two servers.
type clusterBed struct {
	serverBed
	cfg       ClusterConfig
	announced map[string]string // by node
	ids       map[string]int    // the servers' own names for one another → index in servers
}

// StartCluster starts the servers of c, and returns when every one of them sees all
// others well and the replicas have caught up. What outlives the calling process, and for
// how long: see StartProcess and StartContainer.
func StartCluster(ctx context.Context, c ClusterConfig) (Testbed, error) {
	c.Ready = cmp.Or(c.Ready, deploymentReady)
	servers, err := newServerBed(ctx, c.Image, ProcessConfig{
		Nodes: clusterServers, Dir: c.Dir, Binary: c.Binary, Persist: c.Persist, Fsync: c.Fsync, Ready: c.Ready,
	})
	if err != nil {
		return nil, fmt.Errorf("start cluster testbed: %w", err)
	}
	b := &clusterBed{serverBed: servers, cfg: c, announced: map[string]string{}, ids: map[string]int{}}
	if err := b.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start cluster testbed: %w", err), b.Close())
	}
	return b, nil
}

func (b *clusterBed) start(ctx context.Context) error {
	for _, n := range b.servers() {
		n.assign(deploymentConfig{elected: true, sharded: true, settings: []string{
			"repl-ping-replica-period 1",
			fmt.Sprintf("cluster-node-timeout %d", clusterTimeout.Milliseconds()),
			"cluster-replica-validity-factor 0",      // a replica stands for election however long it was cut off
			"cluster-allow-replica-migration no",     // it stays in its shard
			"cluster-require-full-coverage no",       // the other shards serve on
			"cluster-allow-pubsubshard-when-down no", // those without a master do not
		}})
	}
	if err := startMembers(ctx, b.serverBed); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.cfg.Ready)
	defer cancel()
	for i, n := range b.servers() {
		if err := b.configure(ctx, i, n); err != nil {
			return fmt.Errorf("%s: %w", n.Name(), err)
		}
	}
	if err := settle(ctx, b.unacquainted); err != nil {
		return err
	}
	for i, n := range b.servers()[clusterShards:] {
		if _, err := Do(ctx, n, "CLUSTER", "REPLICATE", b.idOf(i)); err != nil {
			return fmt.Errorf("%s: %w", n.Name(), err)
		}
	}
	return b.Settle(ctx)
}

// servers are the masters and the replicas, at first in this order.
func (b *clusterBed) servers() []deployable { return b.members()[:clusterServers] }

// configure configures the i-th server with its address, its slots and its rank, and makes it
// meet the first one.
func (b *clusterBed) configure(ctx context.Context, i int, n deployable) error {
	addr, err := announce(ctx, n, b.cfg.Announce, "cluster")
	if err != nil {
		return err
	}
	b.announced[n.Name()] = addr
	id, err := Do(ctx, n, "CLUSTER", "MYID")
	if err != nil {
		return err
	}
	b.ids[fmt.Sprint(id)] = i
	commands := [][]string{{"CONFIG", "REWRITE"}, {"CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i + 1)}}
	if i < clusterShards {
		first, next := i*clusterSlots/clusterShards, (i+1)*clusterSlots/clusterShards
		commands = append(commands, []string{"CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(first), strconv.Itoa(next - 1)})
	}
	for _, command := range commands {
		if _, err := Do(ctx, n, command...); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(command[:2], " "), err)
		}
	}
	if i == 0 {
		return nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	_, err = Do(ctx, b.servers()[0], "CLUSTER", "MEET", host, port, strconv.Itoa(n.bus()))
	return err
}

// idOf is the id of the i-th server in the cluster.
func (b *clusterBed) idOf(i int) string {
	for id, at := range b.ids {
		if at == i {
			return id
		}
	}
	return ""
}

// unacquainted is an error that names a server which does not know all others yet, or nil.
func (b *clusterBed) unacquainted(ctx context.Context) error {
	for _, n := range b.servers() {
		known, err := b.view(ctx, n)
		if err != nil {
			return err
		}
		if len(known) != clusterServers || slices.ContainsFunc(known, func(m member) bool { return !m.well }) {
			return fmt.Errorf("%s knows %d servers: %v", n.Name(), len(known), known)
		}
	}
	return nil
}

// Name implements Testbed.
func (b *clusterBed) Name() string { return KindCluster }

// Announced implements Deployment.
func (b *clusterBed) Announced(node string) string { return b.announced[node] }

// Slot implements Cluster.
func (b *clusterBed) Slot(key string) int { return slotOf(key) }

// Shard implements Deployment: the first server that answers says where the key's slot
// is. Who is the master there may be in question, and not the shard.
func (b *clusterBed) Shard(ctx context.Context, key string) (int, error) {
	slot := slotOf(key)
	var errs []error
	for _, n := range b.servers() {
		known, err := b.view(ctx, n)
		for _, m := range known {
			if slices.ContainsFunc(m.slots, func(r [2]int) bool { return r[0] <= slot && slot <= r[1] }) {
				return m.index % clusterShards, nil
			}
		}
		errs = append(errs, err)
	}
	return 0, fmt.Errorf("nobody serves slot %d: %w", slot, errors.Join(errs...))
}

// Masters implements Deployment: those that more than half of the servers see with
// slots.
func (b *clusterBed) Masters(ctx context.Context) ([]Node, error) {
	views, errs := [clusterServers][]member{}, make([]error, clusterServers)
	var asking sync.WaitGroup
	for i, n := range b.servers() {
		asking.Go(func() { views[i], errs[i] = b.view(ctx, n) })
	}
	asking.Wait()
	votes := map[[clusterShards]Node]int{}
	for _, known := range views {
		var masters [clusterShards]Node
		for _, m := range known {
			if len(m.slots) > 0 {
				masters[m.index%clusterShards] = b.Nodes()[m.index]
			}
		}
		if votes[masters]++; votes[masters] > clusterServers/2 && !slices.Contains(masters[:], nil) {
			return masters[:], nil
		}
	}
	return nil, fmt.Errorf("the servers do not agree on their masters: %w", errors.Join(errs...))
}

// Settle implements Deployment.
func (b *clusterBed) Settle(ctx context.Context) error { return settle(ctx, b.unsettled) }

// unsettled is an error that says what is not in order, or nil.
func (b *clusterBed) unsettled(ctx context.Context) error {
	if err := b.unacquainted(ctx); err != nil {
		return err
	}
	for _, n := range b.servers() {
		if err := serving(ctx, n); err != nil {
			return err
		}
		known, err := b.view(ctx, n)
		if err != nil {
			return err
		}
		slots := 0
		for _, m := range known {
			if m.moving {
				return fmt.Errorf("%s sees a slot that moves: %v", n.Name(), known)
			}
			for _, r := range m.slots {
				slots += r[1] - r[0] + 1
			}
		}
		if slots != clusterSlots {
			return fmt.Errorf("%s knows who serves %d of %d slots", n.Name(), slots, clusterSlots)
		}
	}
	masters, err := b.Masters(ctx)
	if err != nil {
		return err
	}
	for i, n := range b.servers() {
		master := masters[i%clusterShards]
		_, port, err := net.SplitHostPort(b.announced[master.Name()])
		if err != nil {
			return err
		}
		if err := checkServer(ctx, n, n.Name() == master.Name(), 1, port); err != nil {
			return err
		}
	}
	return nil
}

// serving checks that a server takes commands: for 2 s after its start it does not.
func serving(ctx context.Context, n Node) error {
	ask, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	reply, err := Do(ask, n, "CLUSTER", "INFO")
	if err == nil && !strings.Contains(fmt.Sprint(reply), "cluster_state:ok") {
		err = errors.New("it says that the cluster is down")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", n.Name(), err)
	}
	return nil
}

// A member is a server as another one of its cluster describes it.
type member struct {
	index  int // among the servers
	well   bool
	moving bool     // its own slots: one is being migrated
	slots  [][2]int // ranges, both ends included
}

// view is how n describes the cluster's servers.
func (b *clusterBed) view(ctx context.Context, n Node) ([]member, error) {
	ask, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	reply, err := Do(ask, n, "CLUSTER", "NODES")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Name(), err)
	}
	var known []member
	for line := range strings.Lines(fmt.Sprint(reply)) {
		// id, address, flags, master, ping sent, pong received, epoch, link state, slots …
		f := strings.Fields(line)
		if len(f) < 8 {
			return nil, fmt.Errorf("%s: CLUSTER NODES answers %q", n.Name(), line)
		}
		i, ours := b.ids[f[0]]
		m := member{index: i, well: ours && f[7] == "connected" && !strings.Contains(f[2], "fail") && !strings.Contains(f[2], "handshake")}
		for _, slots := range f[8:] {
			m.addSlots(slots)
		}
		if ours {
			// Who has yet to hear of an address is not well.
			at, _, _ := strings.Cut(f[1], "@")
			m.well = m.well && at == b.announced[b.Nodes()[i].Name()]
		}
		known = append(known, m)
	}
	return known, nil
}

// addSlots reads "7", "0-5460", or "[93->-id]" of one that moves.
func (m *member) addSlots(text string) {
	if strings.HasPrefix(text, "[") {
		m.moving = true
		return
	}
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	from, err := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	if err == nil && err2 == nil {
		m.slots = append(m.slots, [2]int{from, to})
	}
}

// slotOf is CRC16 (XMODEM) of the key, or of what stands between its first brace and
// the next closing one, if that is anything. Source: Redis cluster specification, "Key
// distribution model" and "Hash tags".
func slotOf(key string) int {
	if _, rest, found := strings.Cut(key, "{"); found {
		if tag, _, closed := strings.Cut(rest, "}"); closed && tag != "" {
			key = tag
		}
	}
	crc := uint16(0)
	for _, c := range []byte(key) {
		crc ^= uint16(c) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % clusterSlots
}
