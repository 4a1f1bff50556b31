package testbed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"locktorture/faults/internal/ports"
	"locktorture/faults/testbed/internal/proc"
)

// redisPort is where a server listens in its container.
const redisPort = "6379/tcp"

// containerPoll is the pause between two looks at a container that is changing
// its state.
const containerPoll = 5 * time.Millisecond

// A containerNode is one server in a container, and its successors on one
// published port. Left to Docker, that port would change with every start;
// links need an address that lasts, so the node asks for one of its own.
//
// A server of a deployment has this machine's network instead of one of its own: it
// dials the others where they are announced, which are links on this machine's
// loopback.
type containerNode struct {
	deploymentConfig
	bed     *containerBed
	name    string
	ports   *ports.Picker
	persist bool

	files map[string][]byte // of a server of a deployment: what the next container begins with, by path

	mu       sync.Mutex // serialises life and death
	port     int
	c        testcontainers.Container // nil before the first start
	pausedAt time.Time
	down     bool  // killed on purpose, and not started again
	mishap   error // that nobody asked for
	closed   bool

	vitals vitals
}

// Name implements Node.
func (n *containerNode) Name() string { return n.name }

// Addr implements Node. It is fixed once StartContainer has returned.
func (n *containerNode) Addr() string { return ports.Loopback(n.port) }

// Dial implements Node.
func (n *containerNode) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", n.Addr())
}

func (n *containerNode) id() string { return n.c.GetContainerID() }

// firstStart finds a port on which the container comes up. Some engines tell
// only at the start that a port is taken.
func (n *containerNode) firstStart(ctx context.Context) (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for range startAttempts {
		n.port = n.ports.Free()
		if n.elected {
			if n.sharded {
				n.busPort = n.ports.Free()
			}
			n.files = map[string][]byte{n.configPath(): []byte(n.configuration())}
		}
		if err = n.create(ctx); err == nil {
			if err = n.start(ctx); err == nil {
				return nil
			}
		}
		if ctx.Err() != nil || n.published(ctx) == nil {
			break // the port was not the reason
		}
		err = errors.Join(err, n.discard(ctx))
	}
	return fmt.Errorf("start %s on %s: %w", n.name, n.Addr(), err)
}

// create makes a container without starting it. What ctx interrupts is created
// all the same, so that it is known and can be removed.
func (n *containerNode) create(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.bed.cfg.Ready)
	defer cancel()
	request := testcontainers.ContainerRequest{
		Image: n.bed.cfg.Image, Cmd: n.command(),
		Labels: map[string]string{labelBed: n.bed.id, labelOwner: owner(ctx, os.Getpid()), labelNode: n.name},
	}
	if n.elected {
		request.HostConfigModifier = func(h *container.HostConfig) { h.NetworkMode = network.NetworkHost }
		for path, text := range n.files {
			request.Files = append(request.Files, testcontainers.ContainerFile{Reader: bytes.NewReader(text), ContainerFilePath: path, FileMode: 0o666})
		}
	} else {
		request.ExposedPorts = []string{redisPort}
		request.HostConfigModifier = func(h *container.HostConfig) {
			h.PortBindings = network.PortMap{network.MustParsePort(redisPort): {{
				HostIP: netip.MustParseAddr("127.0.0.1"), HostPort: strconv.Itoa(n.port),
			}}}
		}
	}
	n.c, err = n.bed.docker.CreateContainer(ctx, request)
	return err
}

// dataDir is the folder of data in the images of Redis and of Valkey, which their
// servers may write to.
const dataDir = "/data"

// configPath is where a server of a deployment has its configuration. No other server on
// this machine's network says the same of itself.
func (n *containerNode) configPath() string {
	return path.Join(dataDir, n.bed.id+"-"+n.name+".conf")
}

// configuration is what a server of a deployment begins with, and keeps itself from
// then on.
func (n *containerNode) configuration() string {
	lines := append(n.config(n.name, dataDir, n.port), fmt.Sprintf("dir %q", dataDir))
	if !n.sentinel {
		lines = append(lines, `save ""`, "repl-diskless-sync-delay 0", "appendonly no")
		if n.persist {
			lines[len(lines)-1] = "appendonly yes"
			lines = append(lines, "appendfsync "+string(n.bed.cfg.Fsync))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// keepFiles notes how the dead container's server has left its configuration, and what it
// knows of its cluster.
func (n *containerNode) keepFiles(ctx context.Context) error {
	if n.sharded {
		n.files[path.Join(dataDir, "nodes.conf")] = nil
	}
	for file := range n.files {
		from, err := n.c.CopyFileFromContainer(ctx, file)
		if err != nil {
			return fmt.Errorf("keep %s: %w", file, err)
		}
		n.files[file], err = io.ReadAll(from)
		if err := errors.Join(err, from.Close()); err != nil {
			return fmt.Errorf("keep %s: %w", file, err)
		}
	}
	return nil
}

func (n *containerNode) assign(d deploymentConfig) {
	n.deploymentConfig, n.vitals.elected = d, d.elected
}

// command are the server's settings, for images whose entry point adds the
// server's name: those of Redis and of Valkey do.
func (n *containerNode) command() []string {
	switch {
	case n.sentinel:
		return []string{n.configPath(), "--sentinel"}
	case n.elected:
		return []string{n.configPath()}
	}
	args := []string{"--bind", "0.0.0.0", "--protected-mode", "no", "--save", ""}
	if !n.persist {
		return append(args, "--appendonly", "no")
	}
	return append(args, "--appendonly", "yes", "--appendfsync", string(n.bed.cfg.Fsync))
}

// start starts the container and waits until its server answers on its port.
func (n *containerNode) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, n.bed.cfg.Ready)
	defer cancel()
	if err := n.c.Start(ctx); err != nil {
		return err
	}
	n.down = false
	if err := n.published(ctx); err != nil {
		return err
	}
	return n.awaitAnswer(ctx)
}

// published returns nil when the container's port is where it is looked for, as far as
// that can be told: without a network of its own, it ends where the port is taken.
func (n *containerNode) published(ctx context.Context) error {
	if n.c == nil {
		return errors.New("no container")
	}
	if n.elected {
		return n.alive(ctx)
	}
	at, err := n.c.MappedPort(ctx, redisPort)
	if err != nil {
		return err
	}
	if at.Num() != uint16(n.port) {
		return fmt.Errorf("it is published on port %s, asked for was %d", at.Port(), n.port)
	}
	return nil
}

func (n *containerNode) awaitAnswer(ctx context.Context) error {
	for {
		ask, cancel := context.WithTimeout(ctx, askWait)
		f, err := info(ask, n)
		cancel()
		switch {
		case err == nil && n.elected && f["config_file"] != n.configPath():
			err = errors.New("another server answers")
		case err == nil && f["loading"] != "1":
			return nil
		case err == nil:
			err = errors.New("still loading its data")
		}
		if n.elected && errors.Is(n.alive(ctx), ErrDown) {
			return errExited
		}
		select {
		case <-ctx.Done():
			if n.elected {
				err = fmt.Errorf("%w; servers of a deployment share this machine's network with it, which an engine in a virtual machine does not offer", err)
			}
			return fmt.Errorf("not ready: %w", err)
		case <-time.After(containerPoll):
		}
	}
}

// state asks the engine.
func (n *containerNode) state(ctx context.Context) (*container.State, error) {
	if n.c == nil {
		return nil, ErrDown
	}
	r, err := n.bed.docker.Client().ContainerInspect(ctx, n.id(), client.ContainerInspectOptions{})
	if err != nil {
		return nil, err
	}
	if r.Container.State == nil {
		return nil, fmt.Errorf("container %s has no state", short(n.id()))
	}
	return r.Container.State, nil
}

// awaitState polls until is holds.
func (n *containerNode) awaitState(ctx context.Context, what string, is func(*container.State) bool) (*container.State, error) {
	ctx, cancel := context.WithTimeout(ctx, proc.DeathWait)
	defer cancel()
	for {
		s, err := n.state(ctx)
		if err != nil {
			return nil, err
		}
		if is(s) {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("container %s is %s, not %s: %w", short(n.id()), s.Status, what, ctx.Err())
		case <-time.After(containerPoll):
		}
	}
}

// discard removes the present container.
func (n *containerNode) discard(ctx context.Context) error {
	if n.c == nil {
		return nil
	}
	err := removeContainer(context.WithoutCancel(ctx), n.bed.docker, n.id())
	n.c = nil
	return err
}

// close saves the server's log; the testbed removes the container.
func (n *containerNode) close(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	if n.c == nil || n.bed.cfg.Dir == "" {
		return nil
	}
	return n.saveLog(ctx)
}

func (n *containerNode) saveLog(ctx context.Context) error {
	log, err := n.c.Logs(ctx)
	if err != nil {
		return fmt.Errorf("save the log of %s: %w", n.name, err)
	}
	defer func() { _ = log.Close() }()
	path := n.bed.logPath(n.name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, log)
	return errors.Join(err, f.Close())
}
