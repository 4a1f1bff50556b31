package testbed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"

	"locktorture/faults/internal/ports"
)

// KindEmbedded is the name of the testbed inside this process.
const KindEmbedded = "embedded"

// An EmbeddedConfig describes a testbed inside this process.
type EmbeddedConfig struct {
	Nodes int // independent masters beside the store
}

// An embeddedBed is a testbed of miniredis servers. They are real servers on
// loopback sockets, but not Redis: they cannot be paused, have no CONFIG,
// CLIENT KILL or PAUSE, no replication, eviction or keyspace events, and errors
// raised by scripts lose their code. Their speed says nothing about Redis'.
type embeddedBed struct {
	nodes []Node
	store *embeddedNode
	ports *ports.Picker
	once  sync.Once
}

// StartEmbedded starts c.Nodes masters and the store in this process.
func StartEmbedded(_ context.Context, c EmbeddedConfig) (Testbed, error) {
	if c.Nodes < 1 {
		return nil, fmt.Errorf("start embedded testbed: %d nodes: at least one is needed", c.Nodes)
	}
	b := &embeddedBed{ports: ports.Servers.Picker()}
	for i := range c.Nodes {
		n, err := startEmbeddedNode(fmt.Sprintf("n%d", i+1), b.ports)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("start embedded testbed: %w", err), b.Close())
		}
		b.nodes = append(b.nodes, n)
	}
	store, err := startEmbeddedNode(StoreName, b.ports)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start embedded testbed: %w", err), b.Close())
	}
	b.store = store
	return b, nil
}

// Name implements Testbed.
func (b *embeddedBed) Name() string { return KindEmbedded }

// Version implements Testbed.
func (b *embeddedBed) Version() string { return embeddedVersion() }

// embeddedVersion reads miniredis' version out of this binary's build record.
func embeddedVersion() string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, m := range build.Deps {
			if m.Path == "github.com/alicebob/miniredis/v2" {
				return "miniredis " + strings.TrimPrefix(m.Version, "v")
			}
		}
	}
	return "miniredis"
}

// Nodes implements Testbed.
func (b *embeddedBed) Nodes() []Node { return append([]Node(nil), b.nodes...) }

// Store implements Testbed.
func (b *embeddedBed) Store() Node { return b.store }

// Close implements Testbed.
func (b *embeddedBed) Close() (err error) {
	b.once.Do(func() {
		for _, n := range b.nodes {
			n.(*embeddedNode).close()
		}
		if b.store != nil {
			b.store.close()
		}
		err = b.ports.Close()
	})
	return err
}

// An embeddedNode is one miniredis server and its successors on one address.
type embeddedNode struct {
	name string
	addr string

	mu     sync.Mutex // serialises life and death
	server *miniredis.Miniredis
	id     string // of the server, as INFO tells it: it stays while the data does
	alive  bool
	closed bool
}

func startEmbeddedNode(name string, picker *ports.Picker) (*embeddedNode, error) {
	n := &embeddedNode{name: name}
	var err error
	for range startAttempts {
		n.addr = ports.Loopback(picker.Free())
		if err = n.startEmpty(); err == nil {
			return n, nil
		}
	}
	return nil, fmt.Errorf("start %s: %w", name, err)
}

// startEmpty puts a server that remembers nothing on the node's address. Its
// keys expire by the real clock.
func (n *embeddedNode) startEmpty() error {
	server := miniredis.NewMiniRedis()
	server.ClockTTL(true)
	id := newIdentity()
	if err := startIdentified(server, n.addr, id); err != nil {
		server.CtxCancel()
		return err
	}
	n.server, n.id, n.alive = server, id, true
	return nil
}

// startAgain brings the same server back with its data. Close has ended the
// context on which its blocking commands wait, so it gets another one.
func (n *embeddedNode) startAgain() error {
	n.server.Lock()
	n.server.Ctx, n.server.CtxCancel = context.WithCancel(context.Background())
	n.server.Unlock()
	if err := startIdentified(n.server, n.addr, n.id); err != nil {
		return err
	}
	n.alive = true
	return nil
}

// Name implements Node.
func (n *embeddedNode) Name() string { return n.name }

// Addr implements Node.
func (n *embeddedNode) Addr() string { return n.addr }

// Dial implements Node.
func (n *embeddedNode) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", n.addr)
}

// Alive implements Killer.
func (n *embeddedNode) Alive() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.alive
}

// Kill implements Killer: the listener and every connection are closed.
func (n *embeddedNode) Kill(context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.alive {
		return "", fmt.Errorf("kill %s: %w", n.name, ErrDown)
	}
	conns := n.server.CurrentConnectionCount()
	n.server.Close()
	n.alive = false
	return fmt.Sprintf("%s closed with %d connections", n.addr, conns), nil
}

// CanRestart implements Restarter.
func (n *embeddedNode) CanRestart(how Restart) error {
	if how == PowerLoss {
		return fmt.Errorf("restart %s %s: an embedded node has no disk; a process testbed with %s has: %w", n.name, how, FsyncSecond, ErrUnsupported)
	}
	return nil
}

// Restart implements Killer. Time goes on for the data of a dead node, as it
// does for Redis.
func (n *embeddedNode) Restart(ctx context.Context, how Restart) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return "", fmt.Errorf("restart %s: %w", n.name, ErrClosed)
	}
	if n.alive {
		return "", fmt.Errorf("restart %s: %w", n.name, ErrUp)
	}
	if err := n.CanRestart(how); err != nil {
		return "", err
	}
	start := n.startAgain
	if how == Empty {
		start = n.startEmpty
	}
	if err := start(); err != nil {
		return "", fmt.Errorf("restart %s: %w", n.name, err)
	}
	keys, err := Do(ctx, n, "DBSIZE")
	if err != nil {
		return "", fmt.Errorf("restart %s: %w", n.name, err)
	}
	return fmt.Sprintf("%s answers with %d keys", n.addr, keys), nil
}

// JumpClock implements ClockJumper: every expiry moves, TIME does not.
func (n *embeddedNode) JumpClock(_ context.Context, d time.Duration) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.alive {
		return "", fmt.Errorf("jump clock of %s: %w", n.name, ErrDown)
	}
	before := n.server.Keys()
	n.server.FastForward(d)
	after := n.server.Keys()
	return fmt.Sprintf("every expiry of %s moved by %s: %d keys, then %d", n.name, -d, len(before), len(after)), nil
}

func (n *embeddedNode) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.alive {
		n.server.Close()
	}
	n.alive, n.closed = false, true
}

// embeddedAdmin are the commands that an embedded node knows.
var embeddedAdmin = map[string]bool{"FLUSHALL": true, "FLUSHDB": true, "SCRIPT": true, "SWAPDB": true}

// CanAdminister implements Administrable.
func (n *embeddedNode) CanAdminister(command string) error {
	if !embeddedAdmin[strings.ToUpper(command)] {
		return fmt.Errorf("%s on %s: an embedded node does not know it; a process testbed does: %w", command, n.name, ErrUnsupported)
	}
	return nil
}

// Administer implements Administrable.
func (n *embeddedNode) Administer(ctx context.Context, args ...string) (any, error) {
	if err := n.CanAdminister(args[0]); err != nil {
		return nil, err
	}
	return administer(ctx, n, args)
}
