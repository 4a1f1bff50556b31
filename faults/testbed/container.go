package testbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/testcontainers/testcontainers-go"

	"locktorture/faults/internal/ports"
)

// KindContainer is the name of the testbed of servers in containers.
const KindContainer = "container"

// DefaultImage is the image of a container's server unless another one is
// asked for.
const DefaultImage = "redis:7.0.15"

// A ContainerConfig describes a testbed of servers in containers.
type ContainerConfig struct {
	Nodes   int           // independent masters beside the store
	Image   string        // of Redis ≥ 6.2 or Valkey, with its tag; empty: DefaultImage
	Dir     string        // where nX/redis.log go in the end; empty: nowhere
	Persist bool          // append-only file on the nodes: they can come back with their data
	Fsync   Fsync         // with Persist; empty: FsyncAlways
	Ready   time.Duration // how long one server may take to answer; zero: 30 s
}

// containerReady is how long a container may take to answer, unless said otherwise.
const containerReady = 30 * time.Second

// closeLimit bounds the end of a testbed of containers.
const closeLimit = 60 * time.Second

// A containerBed is a testbed of containers on this machine's Docker engine.
type containerBed struct {
	cfg     ContainerConfig
	docker  *testcontainers.DockerProvider
	ports   *ports.Picker
	id      string // the value of labelBed on all that is ours
	version string
	nodes   []Node
	store   *containerNode
	all     []*containerNode
	once    sync.Once
}

// StartContainer starts c.Nodes masters and the store in containers of c.Image,
// published on loopback ports, and returns when every one answers. An image
// that is not here is pulled. It first removes what harnesses that have died on
// this machine left behind: see SweepContainers.
func StartContainer(ctx context.Context, c ContainerConfig) (Testbed, error) {
	b, err := newContainerBed(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("start container testbed: %w", err)
	}
	if err = startAll(ctx, b.all); err == nil {
		err = b.askVersion(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start container testbed: %w", err), b.Close())
	}
	return b, nil
}

func newContainerBed(ctx context.Context, c ContainerConfig) (*containerBed, error) {
	if c.Nodes < 1 {
		return nil, fmt.Errorf("%d nodes: at least one is needed", c.Nodes)
	}
	c.Image = cmp.Or(c.Image, DefaultImage)
	c.Fsync = cmp.Or(c.Fsync, FsyncAlways)
	c.Ready = cmp.Or(c.Ready, containerReady)
	docker, err := openDocker()
	if err != nil {
		return nil, err
	}
	b := &containerBed{cfg: c, docker: docker, id: newBedID(), ports: ports.Servers.Picker()}
	if _, err = sweepContainers(ctx, docker); err == nil {
		err = ensureImage(ctx, docker, c.Image)
	}
	if err != nil {
		return nil, errors.Join(err, docker.Close())
	}
	for i := range c.Nodes {
		n := b.newNode(fmt.Sprintf("n%d", i+1))
		n.persist = c.Persist
		b.nodes = append(b.nodes, n)
	}
	b.store = b.newNode(StoreName)
	return b, nil
}

func (b *containerBed) newNode(name string) *containerNode {
	n := &containerNode{bed: b, name: name, ports: b.ports}
	b.all = append(b.all, n)
	return n
}

func (b *containerBed) add(name string) deployable { return b.newNode(name) }

func (b *containerBed) members() (all []deployable) {
	for _, n := range b.all {
		all = append(all, n)
	}
	return all
}

// askVersion asks the first node: all run one image.
func (b *containerBed) askVersion(ctx context.Context) error {
	f, err := info(ctx, b.nodes[0])
	b.version = serverVersion(f)
	return err
}

// Name implements Testbed.
func (b *containerBed) Name() string { return KindContainer }

// Version implements Testbed.
func (b *containerBed) Version() string { return b.version }

// Nodes implements Testbed.
func (b *containerBed) Nodes() []Node { return append([]Node(nil), b.nodes...) }

// Store implements Testbed.
func (b *containerBed) Store() Node { return b.store }

// Close saves the servers' logs and removes every container of this testbed,
// by its label: also those whose start was interrupted.
func (b *containerBed) Close() error {
	var err error
	b.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		for _, n := range b.all {
			err = errors.Join(err, n.close(ctx))
		}
		_, removed := removeLabelled(ctx, b.docker, labelBed+"="+b.id, nil)
		err = errors.Join(err, removed, b.docker.Close(), b.ports.Close())
	})
	if err != nil {
		return fmt.Errorf("close container testbed: %w; mend by hand: docker rm -fv $(docker ps -aqf label=%s=%s)", err, labelBed, b.id)
	}
	return nil
}

func (b *containerBed) logPath(node string) string {
	return filepath.Join(b.cfg.Dir, node, "redis.log")
}
