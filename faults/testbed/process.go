package testbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"locktorture/faults/internal/ports"
	"locktorture/faults/testbed/internal/proc"
)

// KindProcess is the name of the testbed of real servers.
const KindProcess = "process"

// An Fsync is a value of Redis' appendfsync.
type Fsync string

// The values that matter here. FsyncAlways keeps every acknowledged write,
// whatever happens. FsyncSecond keeps through a kill what the kernel had got,
// which is all unless a sync was running, and loses to a power loss what was
// written in the last second. What appendfsync no loses is up to the kernel,
// commonly the last 30 s: no testbed models it.
const (
	FsyncAlways Fsync = "always"
	FsyncSecond Fsync = "everysec"
)

// A ProcessConfig describes a testbed of real servers.
type ProcessConfig struct {
	Nodes     int           // independent masters beside the store
	Dir       string        // where nX/redis.conf and nX/redis.log go; empty: a temporary folder
	Binary    string        // redis-server or valkey-server; empty: the one on PATH
	Persist   bool          // append-only file on the nodes: they can come back with their data
	Fsync     Fsync         // with Persist; empty: FsyncAlways
	FakeClock bool          // run the nodes under libfaketime, so that their clocks can jump
	Ready     time.Duration // how long one server may take to answer; zero: 10 s
}

// processReady is how long a server may take to answer, unless said otherwise.
const processReady = 10 * time.Second

// A processBed is a testbed of redis-server children.
type processBed struct {
	cfg     ProcessConfig
	version string
	temp    bool // cfg.Dir is ours to remove
	spawner *proc.Spawner
	ports   *ports.Picker
	nodes   []Node
	store   Node
	all     []*processNode
	once    sync.Once
}

// StartProcess starts c.Nodes masters and the store, all on loopback ports
// below the ephemeral range, and returns when every one answers. No child
// outlives the calling process: on Linux the kernel sees to it, elsewhere
// Sweep on the same folder does.
func StartProcess(ctx context.Context, c ProcessConfig) (Testbed, error) {
	b, err := newProcessBed(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("start process testbed: %w", err)
	}
	if err := startAll(ctx, b.all); err != nil {
		return nil, errors.Join(fmt.Errorf("start process testbed: %w", err), b.Close())
	}
	return b, nil
}

func newProcessBed(ctx context.Context, c ProcessConfig) (*processBed, error) {
	if c.Nodes < 1 {
		return nil, fmt.Errorf("%d nodes: at least one is needed", c.Nodes)
	}
	c.Fsync = cmp.Or(c.Fsync, FsyncAlways)
	if c.Fsync != FsyncAlways && c.Fsync != FsyncSecond {
		return nil, fmt.Errorf("appendfsync %s: %s and %s are modelled; what another loses with the power is up to the kernel", c.Fsync, FsyncAlways, FsyncSecond)
	}
	c.Ready = cmp.Or(c.Ready, processReady)
	var err error
	if c.Binary, err = findServer(c.Binary); err != nil {
		return nil, err
	}
	b := &processBed{cfg: c, temp: c.Dir == ""}
	if b.version, err = binaryVersion(ctx, c.Binary); err != nil {
		return nil, err
	}
	if err := b.makeDir(); err != nil {
		return nil, err
	}
	if err := writeOwner(ctx, b.cfg.Dir); err != nil {
		return nil, errors.Join(err, b.removeFiles())
	}
	if err := b.addNodes(); err != nil {
		return nil, errors.Join(err, b.removeFiles())
	}
	b.spawner = proc.NewSpawner()
	return b, nil
}

func (b *processBed) makeDir() (err error) {
	if b.temp {
		b.cfg.Dir, err = os.MkdirTemp("", "locktorture-nodes-")
		return err
	}
	if b.cfg.Dir, err = filepath.Abs(b.cfg.Dir); err != nil {
		return err
	}
	return os.MkdirAll(b.cfg.Dir, 0o755)
}

// addNodes lays the nodes out without starting them. The store is neither
// persistent nor under a fake clock: it is the measuring instrument.
func (b *processBed) addNodes() error {
	var clock *fakeTime
	if b.cfg.FakeClock {
		var err error
		if clock, err = findFakeTime(); err != nil {
			return err
		}
	}
	b.ports = ports.Servers.Picker()
	for i := range b.cfg.Nodes {
		name := fmt.Sprintf("n%d", i+1)
		n := b.newNode(name)
		n.persist = b.cfg.Persist
		if clock == nil {
			b.nodes = append(b.nodes, n)
			continue
		}
		n.clock, n.clockFile = clock, filepath.Join(b.cfg.Dir, name+".faketime")
		if err := writeOffset(n.clockFile, 0); err != nil {
			return err
		}
		b.nodes = append(b.nodes, &clockNode{processNode: n})
	}
	b.store = b.newNode(StoreName)
	return nil
}

func (b *processBed) newNode(name string) *processNode {
	n := &processNode{bed: b, name: name, home: name, ports: b.ports}
	b.all = append(b.all, n)
	return n
}

func (b *processBed) add(name string) deployable { return b.newNode(name) }

func (b *processBed) members() (all []deployable) {
	for _, n := range b.all {
		all = append(all, n)
	}
	return all
}

// Name implements Testbed.
func (b *processBed) Name() string { return KindProcess }

// Version implements Testbed.
func (b *processBed) Version() string { return b.version }

// Nodes implements Testbed.
func (b *processBed) Nodes() []Node { return append([]Node(nil), b.nodes...) }

// Store implements Testbed.
func (b *processBed) Store() Node { return b.store }

// Close kills every server, stopped or not, waits for it and removes its data.
// Configurations and logs stay unless the folder was temporary.
func (b *processBed) Close() error {
	var errs []error
	b.once.Do(func() {
		for _, n := range b.all {
			errs = append(errs, n.close())
		}
		b.spawner.Close()
		errs = append(errs, b.removeFiles(), b.ports.Close())
	})
	return errors.Join(errs...)
}

func (b *processBed) removeFiles() error {
	if b.temp {
		return os.RemoveAll(b.cfg.Dir)
	}
	var errs []error
	for _, n := range b.all {
		if n.clock != nil {
			errs = append(errs, os.RemoveAll(n.clockFile))
		}
		errs = append(errs, n.removeData())
	}
	return errors.Join(errs...)
}

// findServer returns the path of the server to run.
func findServer(want string) (string, error) {
	if want != "" {
		return exec.LookPath(want)
	}
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("neither redis-server nor valkey-server is on PATH")
}

// binaryVersion asks the server's binary, e.g. "Redis server v=7.0.15 sha=…".
func binaryVersion(ctx context.Context, binary string) (string, error) {
	out, err := exec.CommandContext(ctx, binary, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", binary, err)
	}
	product, rest, _ := strings.Cut(string(out), " ")
	_, rest, ok := strings.Cut(rest, "v=")
	if !ok {
		return "", fmt.Errorf("ask %s for its version: it said %q", binary, out)
	}
	version, _, _ := strings.Cut(rest, " ")
	return strings.ToLower(product) + " " + version, nil
}

// Administer implements Administrable.
func (n *processNode) Administer(ctx context.Context, args ...string) (any, error) {
	n.vitals.noteCommand(args)
	return administer(ctx, n, args)
}
