package faults

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"locktorture/faults/link"
	"locktorture/faults/testbed"
	"locktorture/workload/history"
)

// quiet keeps go-redis from printing every failed dial.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func TestMain(m *testing.M) {
	redis.SetLogger(quiet{})
	goleak.VerifyTestMain(shown{m}, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"),
		// testcontainers keeps a connection to the engine
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// rig is a target of real nodes and links, with clients that one test drives
// by hand.
type rig struct {
	*world
	links map[string]link.Link
}

// embeddedRig runs on miniredis.
func embeddedRig(t *testing.T, nodes, clients int) *rig {
	bed, err := testbed.StartEmbedded(t.Context(), testbed.EmbeddedConfig{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	return newRig(t, bed, clients)
}

// processRig runs on redis-server.
func processRig(t *testing.T, nodes, clients int) *rig {
	return serverRig(t, testbed.ProcessConfig{Nodes: nodes, Persist: true, FakeClock: testbed.CanFakeClock() == nil}, clients)
}

// missing skips a test for want of something, or fails it where nothing may be
// skipped.
func missing(t *testing.T, why any) {
	t.Helper()
	if os.Getenv("LOCKTORTURE_REQUIRE_ALL") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

func serverRig(t *testing.T, c testbed.ProcessConfig, clients int) *rig {
	if _, err := exec.LookPath("redis-server"); err != nil {
		missing(t, err)
	}
	c.Dir = t.TempDir()
	bed, err := testbed.StartProcess(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return newRig(t, bed, clients)
}

func newRig(t *testing.T, bed testbed.Testbed, clients int) *rig {
	return newRigOn(t, bed, clients, link.NewEmbedded())
}

func newRigOn(t *testing.T, bed testbed.Testbed, clients int, fabric link.Fabric) *rig {
	r := &rig{world: idleWorld(0, clients), links: map[string]link.Link{}}
	t.Cleanup(func() {
		if err := fabric.Close(); err != nil {
			t.Error(err)
		}
		if err := bed.Close(); err != nil {
			t.Error(err)
		}
	})
	r.Fabric = fabric
	r.Testbed, r.Quorum = bed, len(bed.Nodes())/2+1
	r.LeaseKeys = func(key string) []string { return []string{key} }
	r.Link = func(client, node string) link.Link { return r.links[client+"→"+node] }
	for _, c := range r.Clients {
		for _, n := range append(bed.Nodes(), bed.Store()) {
			road, err := fabric.Open(t.Context(), c.Name(), n.Name(), n.Addr())
			if err != nil {
				t.Fatal(err)
			}
			r.links[c.Name()+"→"+n.Name()] = road
		}
	}
	return r
}

// dial returns a Redis client over the link, with connections open already.
func (r *rig) dial(t *testing.T, client, node string) *redis.Client {
	rdb := r.raw(client, node)
	t.Cleanup(func() { _ = rdb.Close() })
	if err := rdb.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	return rdb
}

func (r *rig) raw(client, node string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Dialer:     func(ctx context.Context, _, _ string) (net.Conn, error) { return r.Link(client, node).Dial(ctx) },
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true, DisableIdentity: true, Protocol: 2, PoolSize: 1,
	})
}

const (
	soon = 500 * time.Millisecond // for a reply that is not to come
	late = 20 * time.Second       // for one that must
)

// set sends SET NX and returns its error.
func set(t *testing.T, rdb *redis.Client, within time.Duration, key, value string) error {
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	return rdb.SetNX(ctx, key, value, time.Minute).Err()
}

// get reads past every link.
func (r *rig) get(t *testing.T, n testbed.Node, key string) string {
	v, err := testbed.Do(t.Context(), n, "GET", key)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(v)
}

func (r *rig) node(name string) testbed.Node {
	for _, n := range append(r.Testbed.Nodes(), r.Testbed.Store()) {
		if n.Name() == name {
			return n
		}
	}
	return nil
}

// held is one step in force, until end is called.
type held struct {
	*rig
	end  func()
	wait func() (StepResult, error)
}

// knock has a client send one command to a node, whatever becomes of it.
func (r *rig) knock(t *testing.T, client, node string) {
	rdb := r.raw(client, node)
	defer rdb.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 200*time.Millisecond)
	defer cancel()
	_ = rdb.Ping(ctx).Err()
}

// inject runs a step of one fault, and returns once it is in force. Until then
// the client operations run again and again: a fault that is over at once waits
// for one.
func (r *rig) inject(t *testing.T, name string, p Params, operations ...func()) *held {
	t.Helper()
	entry, ok := Catalogue()[name]
	if !ok {
		t.Fatalf("no fault %q", name)
	}
	f := entry.New(p.or(entry.Default))
	if err := f.Supports(r.Target); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	inForce := make(chan struct{})
	var once sync.Once
	r.rec.Attach(history.SinkFunc(func(e *history.Event) {
		if e.Op == history.Fault && e.Kind != history.Invoke {
			once.Do(func() { close(inForce) })
		}
	}))
	var res Result
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		res, err = r.run(ctx, Step{For: time.Hour, Fault: f})
	}()
	for waiting := true; waiting; {
		for _, operate := range operations {
			operate()
		}
		select {
		case <-inForce:
			waiting = false
		case <-time.After(5 * time.Millisecond):
		}
		if time.Since(began) > late {
			cancel()
			<-done
			t.Fatalf("%s is not in force: %+v, %v", name, res, err)
		}
	}
	wait := func() (StepResult, error) { cancel(); <-done; return res.Steps[0], err }
	t.Cleanup(func() { cancel(); <-done })
	return &held{rig: r, end: cancel, wait: wait}
}

// healed ends the step and checks that it was healed with a receipt that
// says so.
func (h *held) healed(t *testing.T, receipt ...string) {
	t.Helper()
	res, err := h.wait()
	if err != nil || !res.Healed || !res.Bit {
		t.Errorf("%s: %+v, %v", res.Fault, res, err)
	}
	said := strings.Join(res.Receipts, "; ")
	for _, want := range receipt {
		if !strings.Contains(said, want) {
			t.Errorf("%s: receipt %q does not say %q", res.Fault, said, want)
		}
	}
	if err := history.Validate(h.events.Events); err != nil {
		t.Error(err)
	}
	h.show(res.Fault)
	t.Logf("%s: %s", res.Fault, said)
}
