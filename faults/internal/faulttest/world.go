// Package faulttest is what tests of faults stand on: fakes that need no server,
// and rigs of real nodes and links. No other code imports it.
package faulttest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
	"locktorture/faults/watch"
	"locktorture/workload/history"
)

// fault is a fault made of a function.
type fault struct {
	name   string
	inject func(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error)
}

// Fault returns a fault that every target can suffer.
func Fault(name string, inject func(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error)) faults.Fault {
	return fault{name, inject}
}

func (f fault) Name() string                  { return f.name }
func (f fault) Supports(*faults.Target) error { return nil }
func (f fault) Inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	return f.inject(ctx, s, rng)
}

// Plain is a fault that takes effect and heals.
func Plain(name string) faults.Fault {
	return Fault(name, func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
		s.Begin(faults.Hit{Nodes: []string{name}})
		s.OnHeal(name, "by hand", func(ctx context.Context) (string, error) { return name + " healed", ctx.Err() })
		return faults.Injection{Target: faults.Hit{Nodes: []string{name}}, Receipt: name + " bit"}, nil
	})
}

// A Node is a node without a server.
type Node struct {
	name string
	mu   sync.Mutex
	dead bool
	Fail error // of every restart
}

func (n *Node) Name() string { return n.name }
func (n *Node) Addr() string { return "127.0.0.1:0" }
func (n *Node) Dial(context.Context) (net.Conn, error) {
	return nil, errors.New("no server behind " + n.name)
}

func (n *Node) Alive() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.dead
}

func (n *Node) Kill(context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dead {
		return "", testbed.ErrDown
	}
	n.dead = true
	return n.name + " gone", nil
}

func (n *Node) Restart(_ context.Context, how testbed.Restart) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.Fail != nil {
		return "", n.Fail
	}
	n.dead = false
	return fmt.Sprintf("%s back %v", n.name, how), nil
}

// PlainNode can do nothing but be there.
func PlainNode(name string) testbed.Node { return plainNode{&Node{name: name}} }

type plainNode struct{ testbed.Node }

type bed struct{ nodes []testbed.Node }

// Bed is a testbed of the given nodes, without a store.
func Bed(nodes ...testbed.Node) testbed.Testbed { return bed{nodes} }

func (b bed) Name() string          { return "fake" }
func (b bed) Version() string       { return "fake 1" }
func (b bed) Nodes() []testbed.Node { return b.nodes }
func (b bed) Store() testbed.Node   { return nil }
func (b bed) Close() error          { return nil }

func fakeNodes(n int) testbed.Testbed {
	var nodes []testbed.Node
	for i := range n {
		nodes = append(nodes, &Node{name: fmt.Sprintf("n%d", i+1)})
	}
	return Bed(nodes...)
}

// A Client notes what is done to it.
type Client struct {
	name string
	mu   sync.Mutex
	did  []string
}

func (c *Client) Name() string { return c.name }

func (c *Client) note(what string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.did = append(c.did, what)
	return c.name + " " + what, nil
}

func (c *Client) Pause(context.Context) (string, error)   { return c.note("paused") }
func (c *Client) Resume(context.Context) (string, error)  { return c.note("resumed") }
func (c *Client) Crash(context.Context) (string, error)   { return c.note("crashed") }
func (c *Client) Restart(context.Context) (string, error) { return c.note("restarted") }

// Deeds lists what was done to the client.
func (c *Client) Deeds() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.did)
}

// A World is a target of fakes with a recorder.
type World struct {
	*faults.Target
	Rec    *history.Recorder
	Events *history.Buffer
}

// New returns a world whose clients are all at work: each has a write
// under way, which never ends.
func New(nodes, clients int) *World {
	w := Idle(nodes, clients)
	for i, c := range w.Clients {
		w.Watch.Event(&history.Event{Process: 1000 + i, Kind: history.Invoke, Op: history.Write, Owner: c.Name(), Key: "k"})
	}
	return w
}

// Idle returns a world whose clients do nothing.
func Idle(nodes, clients int) *World {
	w := &World{Events: &history.Buffer{}}
	w.Target = &faults.Target{Testbed: fakeNodes(nodes), Watch: watch.New(), Quorum: nodes/2 + 1, TTL: 2 * time.Second}
	for i := range clients {
		w.Clients = append(w.Clients, &Client{name: fmt.Sprintf("c%02d", i)})
	}
	w.Rec = history.NewRecorder(w.Events, w.Watch)
	return w
}

// Run follows steps, always from the same seed.
func (w *World) Run(ctx context.Context, steps ...faults.Step) (faults.Result, error) {
	return faults.Run(ctx, steps, w.Target, w.Rec, rand.New(rand.NewPCG(1, 2)))
}

// Inside calls f with the scope of an injection.
func (w *World) Inside(t *testing.T, f func(s *faults.Scope)) {
	t.Helper()
	called := errors.New("called")
	_, err := w.Run(t.Context(), faults.Step{Fault: Fault("inside", func(_ context.Context, s *faults.Scope, _ *rand.Rand) (faults.Injection, error) {
		f(s)
		return faults.Injection{}, called
	})})
	if !errors.Is(err, called) {
		t.Fatal(err)
	}
}

// Grant records that owner is granted key for the TTL.
func (w *World) Grant(key, owner string) { w.grant(key, owner, history.Exclusive) }

// GrantToRead does the same for a reader.
func (w *World) GrantToRead(key, owner string) { w.grant(key, owner, history.Shared) }

func (w *World) grant(key, owner string, m history.Mode) {
	p := w.Rec.NewProcess()
	w.Rec.Append(history.Event{Process: p, Kind: history.Invoke, Op: history.Acquire, Key: key, Owner: owner, Mode: m})
	w.Rec.Append(history.Event{
		Process: p, Kind: history.OK, Op: history.Acquire, Key: key, Owner: owner, Mode: m,
		ValidUntil: w.Rec.Since(time.Now()) + w.TTL, Has: history.HasValidUntil,
	})
}

// Release records that owner sends a release of key.
func (w *World) Release(key, owner string) {
	w.Rec.Append(history.Event{Process: w.Rec.NewProcess(), Kind: history.Invoke, Op: history.Release, Key: key, Owner: owner})
}

// Return has owner release key, and be answered at once.
func (w *World) Return(key, owner string) {
	e := history.Event{Process: w.Rec.NewProcess(), Kind: history.Invoke, Op: history.Release, Key: key, Owner: owner}
	w.Rec.Append(e)
	e.Kind = history.OK
	w.Rec.Append(e)
}

// Story prints the nemesis's events, one per line: "1s invoke fault a".
func (w *World) Story() []string {
	var lines []string
	for _, e := range w.Events.Events {
		if e.Process == history.Nemesis {
			lines = append(lines, fmt.Sprintf("%v %v %v %s", e.Time, e.Kind, e.Op, e.Fault))
		}
	}
	return lines
}

// WantStory compares the story, and checks that the history is well-formed.
func (w *World) WantStory(t *testing.T, want ...string) {
	t.Helper()
	if got := w.Story(); !slices.Equal(got, want) {
		t.Errorf("events:\n%q\nwant:\n%q", got, want)
	}
	if err := history.Validate(w.Events.Events); err != nil {
		t.Error(err)
	}
}

// Script records events at their times, beside a run.
func (w *World) Script(steps map[time.Duration]func()) {
	for at, do := range steps {
		time.AfterFunc(at, do)
	}
}

// Wrote records a write that was answered.
func (w *World) Wrote(key, owner string) {
	e := history.Event{Process: w.Rec.NewProcess(), Kind: history.Invoke, Op: history.Write, Key: key, Owner: owner}
	w.Rec.Append(e)
	e.Kind = history.OK
	w.Rec.Append(e)
}

// Extend records that owner's lease of key is renewed for the TTL.
func (w *World) Extend(key, owner string) {
	e := history.Event{Process: w.Rec.NewProcess(), Kind: history.Invoke, Op: history.Extend, Key: key, Owner: owner}
	w.Rec.Append(e)
	e.Kind, e.Has, e.ValidUntil = history.OK, history.HasValidUntil, w.Rec.Since(time.Now())+w.TTL
	w.Rec.Append(e)
}

// Linked gives w links, which no plan opens.
func (w *World) Linked() *faults.Target {
	w.Link, w.Taps = func(string, string) link.Link { return nil }, true
	return w.Target
}

// Seeded returns draws that depend on seed alone.
func Seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, seed)) }
