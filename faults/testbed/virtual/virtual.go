// Package virtual is a testbed for virtual time: every node is a Redis server in
// memory (memredis) behind links in memory (link.NewVirtual), and has a clock of
// its own. It lives in one testing/synctest bubble.
//
// It proves nothing of Redis: it is there to try what a lock makes of Redis,
// many thousand times faster than leases pass.
package virtual

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"locktorture/faults/link"
	"locktorture/faults/testbed"
	"locktorture/faults/testbed/memredis"
)

// Kind is the name of this testbed.
const Kind = "virtual"

// A Bed is a testbed in virtual time.
type Bed struct {
	nodes []*Node
	store *Node
	all   []*Node // with the store
}

// New starts n masters and the store. All that they draw, such as the ids of
// their processes, comes from seed.
func New(n int, seed uint64) *Bed {
	b := &Bed{}
	for i := range n {
		b.nodes = append(b.nodes, newNode(fmt.Sprintf("n%d", i+1), seed, uint64(i)))
	}
	b.store = newNode(testbed.StoreName, seed, uint64(n))
	b.all = slices.Concat(b.nodes, []*Node{b.store})
	return b
}

// Name implements testbed.Testbed.
func (*Bed) Name() string { return Kind }

// Version implements testbed.Testbed.
func (*Bed) Version() string { return "memredis, after redis 7.0" }

// Nodes implements testbed.Testbed.
func (b *Bed) Nodes() []testbed.Node {
	all := make([]testbed.Node, len(b.nodes))
	for i, n := range b.nodes {
		all[i] = n
	}
	return all
}

// Dump is all that the masters store, each under its name; see memredis.Server.Dump.
func (b *Bed) Dump(grain time.Duration) string {
	var all strings.Builder
	for _, n := range b.nodes {
		fmt.Fprintf(&all, "%s %v %s", n.name, n.Alive(), n.Dump(grain))
	}
	return all.String()
}

// Store implements testbed.Testbed.
func (b *Bed) Store() testbed.Node { return b.store }

// Server returns the server at an address, for link.NewVirtual.
func (b *Bed) Server(addr string) link.Server {
	for _, n := range b.all {
		if n.Addr() == addr {
			return n
		}
	}
	return nobody{}
}

type nobody struct{}

func (nobody) Accept(func([]byte), func()) (link.Session, error) { return nil, syscall.ECONNREFUSED }

// Close implements testbed.Testbed.
func (b *Bed) Close() error {
	for _, n := range b.all {
		n.server.Hangup()
		n.server.Close()
	}
	return nil
}

// A Node is one server, its life and its clock. It can be killed, paused, and
// told another time.
type Node struct {
	name   string
	number uint64
	server *memredis.Server

	mu     sync.Mutex
	rng    *rand.Rand // of its ids
	alive  bool
	ahead  time.Duration // of the bubble's clock
	paused bool
	late   []func() // what came while it stood still
}

func newNode(name string, seed, number uint64) *Node {
	n := &Node{name: name, number: number, alive: true, rng: rand.New(rand.NewPCG(seed, 1000+number))}
	n.server = memredis.New(n.now, n.id(), n.id())
	return n
}

func (n *Node) id() string {
	return fmt.Sprintf("%016x%016x%08x", n.rng.Uint64(), n.rng.Uint64(), n.rng.Uint32())
}

// now is the time of day as the node sees it.
func (n *Node) now() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Now().Add(n.ahead)
}

// Name implements testbed.Node.
func (n *Node) Name() string { return n.name }

// Addr implements testbed.Node.
func (n *Node) Addr() string { return n.name + ".virtual:6379" }

// Dial implements testbed.Node.
func (n *Node) Dial(context.Context) (net.Conn, error) { return link.Direct(n, n.number) }

// Look implements sample.Looker: what is stored under a key, as long as the node would
// answer.
func (n *Node) Look(key string) (left time.Duration, text string, err error) {
	n.mu.Lock()
	silent := !n.alive || n.paused
	n.mu.Unlock()
	if silent {
		return 0, "", fmt.Errorf("look at %s: %w", n.name, testbed.ErrDown)
	}
	left, text = n.server.Look(key)
	return left, text, nil
}

// Dump is all that the node stores; see memredis.Server.Dump.
func (n *Node) Dump(grain time.Duration) string { return n.server.Dump(grain) }

// Accept implements link.Server.
func (n *Node) Accept(reply func([]byte), hangup func()) (link.Session, error) {
	if !n.Alive() {
		return nil, syscall.ECONNREFUSED
	}
	return &session{n, n.server.Accept(reply, hangup)}, nil
}

// A session is one connection to a node, which may stand still.
type session struct {
	node *Node
	to   *memredis.Session
}

// Request implements link.Session.
func (s *session) Request(b []byte) { s.node.when(func() { s.to.Request(b) }) }

// Gone implements link.Session.
func (s *session) Gone() { s.node.when(s.to.Gone) }

// when does something at once, or when the node goes on.
func (n *Node) when(do func()) {
	n.mu.Lock()
	if n.paused {
		n.late = append(n.late, do)
		n.mu.Unlock()
		return
	}
	n.mu.Unlock()
	do()
}

// Alive implements testbed.Killer.
func (n *Node) Alive() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.alive
}

// Kill implements testbed.Killer. What a paused node had not yet looked at is lost.
func (n *Node) Kill(context.Context) (string, error) {
	n.mu.Lock()
	if !n.alive {
		n.mu.Unlock()
		return "", fmt.Errorf("kill %s: %w", n.name, testbed.ErrDown)
	}
	n.alive, n.paused, n.late = false, false, nil
	n.mu.Unlock()
	return fmt.Sprintf("%s gone, with %d connections", n.name, n.server.Hangup()), nil
}

// CanRestart implements testbed.Restarter.
func (n *Node) CanRestart(how testbed.Restart) error {
	if how == testbed.PowerLoss {
		return fmt.Errorf("restart %s %s: a node in memory has no disk: %w", n.name, how, testbed.ErrUnsupported)
	}
	return nil
}

// Restart implements testbed.Killer: another process on the same address, with
// the same data or none. Time goes on for the data of a dead node.
func (n *Node) Restart(_ context.Context, how testbed.Restart) (string, error) {
	if err := n.CanRestart(how); err != nil {
		return "", err
	}
	n.mu.Lock()
	if n.alive {
		n.mu.Unlock()
		return "", fmt.Errorf("restart %s: %w", n.name, testbed.ErrUp)
	}
	n.alive = true
	run, history := n.id(), n.id()
	n.mu.Unlock()
	n.server.Restart(run, history, how == testbed.Empty)
	return fmt.Sprintf("%s answers with %d keys", n.name, len(n.server.Keys())), nil
}

// Pause implements testbed.Pauser: what is sent meanwhile is applied when the
// node goes on.
func (n *Node) Pause(context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.alive {
		return "", fmt.Errorf("pause %s: %w", n.name, testbed.ErrDown)
	}
	n.paused = true
	return n.name + " stands still", nil
}

// Resume implements testbed.Pauser.
func (n *Node) Resume(context.Context) (string, error) {
	n.mu.Lock()
	late := n.late
	n.paused, n.late = false, nil
	n.mu.Unlock()
	for _, do := range late {
		do()
	}
	return fmt.Sprintf("%s goes on; %d messages had waited", n.name, len(late)), nil
}

// JumpClock implements testbed.ClockJumper: the time of day moves, and with it
// every expiry.
func (n *Node) JumpClock(_ context.Context, d time.Duration) (string, error) {
	n.mu.Lock()
	if !n.alive {
		n.mu.Unlock()
		return "", fmt.Errorf("jump clock of %s: %w", n.name, testbed.ErrDown)
	}
	n.ahead += d
	ahead := n.ahead
	n.mu.Unlock()
	return fmt.Sprintf("the clock of %s moved by %s: it is %s ahead, and has %d keys", n.name, d, ahead, len(n.server.Keys())), nil
}

// administered are the commands that change a node as a whole and that it knows.
var administered = map[string]bool{"FLUSHALL": true, "FLUSHDB": true, "SCRIPT": true}

// CanAdminister implements testbed.Administrable.
func (n *Node) CanAdminister(command string) error {
	if !administered[command] {
		return fmt.Errorf("%s on %s: a node in memory does not know it; a process testbed does: %w", command, n.name, testbed.ErrUnsupported)
	}
	return nil
}

// Administer implements testbed.Administrable.
func (n *Node) Administer(ctx context.Context, args ...string) (any, error) {
	if err := n.CanAdminister(args[0]); err != nil {
		return nil, err
	}
	reply, err := testbed.Do(ctx, n, args...)
	if err != nil {
		return nil, fmt.Errorf("administer %s: %w", n.name, err)
	}
	return reply, nil
}
