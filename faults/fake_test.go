package faults

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

	"locktorture/faults/testbed"
	"locktorture/workload/history"
)

// fakeFault is a fault made of functions.
type fakeFault struct {
	name   string
	inject func(ctx context.Context, t *Target, rng *rand.Rand) (Injection, error)
}

func (f fakeFault) Name() string           { return f.name }
func (f fakeFault) Supports(*Target) error { return nil }
func (f fakeFault) Inject(ctx context.Context, t *Target, rng *rand.Rand) (Injection, error) {
	return f.inject(ctx, t, rng)
}

// plain is a fault that bites and heals.
func plain(name string) fakeFault {
	return fakeFault{name, func(_ context.Context, t *Target, _ *rand.Rand) (Injection, error) {
		t.Begin(Hit{Nodes: []string{name}})
		t.OnHeal(name, "by hand", func(ctx context.Context) (string, error) { return name + " healed", ctx.Err() })
		return Injection{Target: Hit{Nodes: []string{name}}, Receipt: name + " bit"}, nil
	}}
}

// fakeNode is a node without a server.
type fakeNode struct {
	name string
	mu   sync.Mutex
	dead bool
	fail error // of every restart
}

func (n *fakeNode) Name() string { return n.name }
func (n *fakeNode) Addr() string { return "127.0.0.1:0" }
func (n *fakeNode) Dial(context.Context) (net.Conn, error) {
	return nil, errors.New("no server behind " + n.name)
}

func (n *fakeNode) Alive() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.dead
}

func (n *fakeNode) Kill(context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dead {
		return "", testbed.ErrDown
	}
	n.dead = true
	return n.name + " gone", nil
}

func (n *fakeNode) Restart(_ context.Context, how testbed.Restart) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fail != nil {
		return "", n.fail
	}
	n.dead = false
	return fmt.Sprintf("%s back %v", n.name, how), nil
}

// plainNode can do nothing but be there.
type plainNode struct{ testbed.Node }

type fakeBed struct{ nodes []testbed.Node }

func (b fakeBed) Name() string          { return "fake" }
func (b fakeBed) Version() string       { return "fake 1" }
func (b fakeBed) Nodes() []testbed.Node { return b.nodes }
func (b fakeBed) Store() testbed.Node   { return nil }
func (b fakeBed) Close() error          { return nil }

func fakeNodes(n int) fakeBed {
	var b fakeBed
	for i := range n {
		b.nodes = append(b.nodes, &fakeNode{name: fmt.Sprintf("n%d", i+1)})
	}
	return b
}

// fakeClient notes what is done to it.
type fakeClient struct {
	name string
	mu   sync.Mutex
	did  []string
}

func (c *fakeClient) Name() string { return c.name }

func (c *fakeClient) note(what string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.did = append(c.did, what)
	return c.name + " " + what, nil
}

func (c *fakeClient) Pause(context.Context) (string, error)   { return c.note("paused") }
func (c *fakeClient) Resume(context.Context) (string, error)  { return c.note("resumed") }
func (c *fakeClient) Crash(context.Context) (string, error)   { return c.note("crashed") }
func (c *fakeClient) Restart(context.Context) (string, error) { return c.note("restarted") }

func (c *fakeClient) deeds() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.did)
}

const second = time.Second

// world is a target of fakes with a recorder.
type world struct {
	*Target
	rec    *history.Recorder
	events *history.Buffer
}

// newWorld returns a world whose clients are all at work: each has a write
// under way, which never ends.
func newWorld(nodes, clients int) *world {
	w := idleWorld(nodes, clients)
	for i, c := range w.Clients {
		w.Watch.Event(&history.Event{Process: 1000 + i, Kind: history.Invoke, Op: history.Write, Owner: c.Name(), Key: "k"})
	}
	return w
}

// idleWorld returns a world whose clients do nothing.
func idleWorld(nodes, clients int) *world {
	w := &world{events: &history.Buffer{}}
	w.Target = &Target{Testbed: fakeNodes(nodes), Watch: NewWatch(), Quorum: nodes/2 + 1, TTL: 2 * second}
	for i := range clients {
		w.Clients = append(w.Clients, &fakeClient{name: fmt.Sprintf("c%02d", i)})
	}
	w.rec = history.NewRecorder(w.events, w.Watch)
	return w
}

func (w *world) run(ctx context.Context, steps ...Step) (Result, error) {
	return Run(ctx, steps, w.Target, w.rec, rand.New(rand.NewPCG(1, 2)))
}

// grant records that owner is granted key for the TTL.
func (w *world) grant(key, owner string) {
	p := w.rec.NewProcess()
	w.rec.Append(history.Event{Process: p, Kind: history.Invoke, Op: history.Acquire, Key: key, Owner: owner})
	w.rec.Append(history.Event{
		Process: p, Kind: history.OK, Op: history.Acquire, Key: key, Owner: owner,
		ValidUntil: w.rec.Since(time.Now()) + w.TTL, Has: history.HasValidUntil,
	})
}

func (w *world) release(key, owner string) {
	w.rec.Append(history.Event{Process: w.rec.NewProcess(), Kind: history.Invoke, Op: history.Release, Key: key, Owner: owner})
}

// story prints the nemesis's events, one per line: "1s invoke fault a".
func (w *world) story() []string {
	var lines []string
	for _, e := range w.events.Events {
		if e.Process == history.Nemesis {
			lines = append(lines, fmt.Sprintf("%v %v %v %s", e.Time, e.Kind, e.Op, e.Fault))
		}
	}
	return lines
}

// wantStory compares the story, and checks that the history is well-formed.
func (w *world) wantStory(t *testing.T, want ...string) {
	t.Helper()
	if got := w.story(); !slices.Equal(got, want) {
		t.Errorf("events:\n%q\nwant:\n%q", got, want)
	}
	if err := history.Validate(w.events.Events); err != nil {
		t.Error(err)
	}
}
