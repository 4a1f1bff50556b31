package testbed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"strings"
	"sync"
	"time"

	"locktorture/faults/testbed/internal/proc"
)

// A deployable is a server, or a Sentinel, that can be part of a deployment.
type deployable interface {
	Node
	assign(deploymentConfig) // before its first start
	firstStart(ctx context.Context) error
	bus() (port int) // see duty
}

// A serverBed is a testbed on which a deployment can be built: of processes, or of
// containers.
type serverBed interface {
	Testbed
	members() []deployable // the nodes, then the store, and what was added
	add(name string) deployable
}

// newServerBed lays out servers without starting them: in containers of image, or as
// processes where that is empty.
func newServerBed(ctx context.Context, image string, c ProcessConfig) (serverBed, error) {
	if image == "" {
		b, err := newProcessBed(ctx, c)
		if err != nil {
			return nil, err
		}
		return b, nil
	}
	b, err := newContainerBed(ctx, ContainerConfig{Nodes: c.Nodes, Image: image, Dir: c.Dir, Persist: c.Persist, Fsync: c.Fsync, Ready: c.Ready})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// startAll starts nodes side by side.
func startAll[N interface {
	firstStart(ctx context.Context) error
}](ctx context.Context, nodes []N) error {
	errs := make([]error, len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() { errs[i] = n.firstStart(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// startMembers starts the nodes and the store.
func startMembers(ctx context.Context, b serverBed) error {
	err := startAll(ctx, b.members())
	if in, contained := b.(*containerBed); contained && err == nil {
		err = in.askVersion(ctx)
	}
	return err
}

// A deploymentConfig is how a deployment configures a server of its own.
type deploymentConfig struct {
	settings []string // further lines of its configuration
	elected  bool     // its deployment says whether it is a master, and it keeps its configuration itself
	sentinel bool     // a Redis Sentinel, which keeps no data
	sharded  bool     // a server of a Redis Cluster
	busPort  int      // sharded: where the other servers of its cluster find it
}

func (d *deploymentConfig) bus() int { return d.busPort }

// config are the lines of the configuration for a server at port, in the folder home. The lines
// about its data follow them.
func (d *deploymentConfig) config(name, home string, port int) []string {
	lines := []string{
		"# " + name + " of a locktorture run",
		"bind 127.0.0.1",
		fmt.Sprintf("port %d", port),
		"daemonize no",
	}
	if d.sharded {
		lines = append(lines, "cluster-enabled yes", fmt.Sprintf("cluster-port %d", d.busPort), fmt.Sprintf("cluster-config-file %q", path.Join(home, "nodes.conf")))
	}
	return append(lines, d.settings...)
}

// CanAdminister implements Administrable: a real server knows every command. Who is a
// master is not for commands to say where Redis Sentinel or Redis Cluster does.
func (d *deploymentConfig) CanAdminister(command string) error {
	if d.elected && strings.EqualFold(command, "REPLICAOF") {
		return fmt.Errorf("%s: Redis Sentinel or Redis Cluster says who is a replica; a process testbed leaves it to commands: %w", command, ErrUnsupported)
	}
	return nil
}

// follow makes r a replica of the server at master and waits, for at most limit, until
// it has caught up and, if it is persistent, written a log that holds what it got.
func follow(ctx context.Context, r Node, master string, limit time.Duration) error {
	host, port, err := net.SplitHostPort(master)
	if err != nil {
		return err
	}
	if _, err := Do(ctx, r, "REPLICAOF", host, port); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		f, err := info(ctx, r)
		if err != nil {
			return err
		}
		if f["master_link_status"] == "up" && f["aof_rewrite_in_progress"] == "0" && f["aof_rewrite_scheduled"] == "0" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("catch up with %s: its link is %s: %w", master, f["master_link_status"], ctx.Err())
		case <-time.After(proc.Poll):
		}
	}
}

// announce makes the server announce the address that via returns, and returns that address.
// what is the prefix of the settings for it.
func announce(ctx context.Context, n Node, via Announce, what string) (addr string, err error) {
	addr = n.Addr()
	if via != nil {
		if addr, err = via(ctx, n.Name(), addr); err != nil {
			return "", fmt.Errorf("announce %s: %w", n.Name(), err)
		}
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("announce %s: %w", n.Name(), err)
	}
	if _, err := Do(ctx, n, "CONFIG", "SET", what+"-announce-ip", host, what+"-announce-port", port); err != nil {
		return "", fmt.Errorf("announce %s: %w", n.Name(), err)
	}
	return addr, nil
}

// deploymentReady is how long servers may take to agree, unless said otherwise. They elect
// and call each other down by time, and begin again when they were wrong: on a crowded
// machine six of them took more than 10 s.
const deploymentReady = 30 * time.Second

// settlePoll is the pause between two looks at what has yet to settle.
const settlePoll = 20 * time.Millisecond

// settle calls unsettled again and again until that returns nil.
func settle(ctx context.Context, unsettled func(context.Context) error) error {
	var last error // what a look found that ctx did not end
	for {
		err := unsettled(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("settle: %w: %w", ctx.Err(), last)
		case <-time.After(settlePoll):
		}
	}
}
