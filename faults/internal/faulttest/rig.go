package faulttest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

// quiet keeps go-redis from printing every failed dial.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// Main runs a package's tests and fails when a goroutine outlives them.
func Main(m goleak.TestingM) {
	redis.SetLogger(quiet{})
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"),
		// testcontainers keeps a connection to the engine
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// A Rig is a target of real nodes and links, with clients that one test drives
// by hand.
type Rig struct {
	*World
	Links map[string]link.Link // by client→node
}

// EmbeddedRig runs on miniredis.
func EmbeddedRig(t *testing.T, nodes, clients int) *Rig {
	bed, err := testbed.StartEmbedded(t.Context(), testbed.EmbeddedConfig{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	return NewRig(t, bed, clients)
}

// ProcessRig runs on redis-server.
func ProcessRig(t *testing.T, nodes, clients int) *Rig {
	return ServerRig(t, testbed.ProcessConfig{Nodes: nodes, Persist: true, FakeClock: testbed.CanFakeClock() == nil}, clients)
}

// Missing skips a test for want of something, or fails it where nothing may be
// skipped.
func Missing(t *testing.T, why any) {
	t.Helper()
	if os.Getenv("LOCKTORTURE_REQUIRE_ALL") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// ServerRig runs on redis-server as c says.
func ServerRig(t *testing.T, c testbed.ProcessConfig, clients int) *Rig {
	if _, err := exec.LookPath("redis-server"); err != nil {
		Missing(t, err)
	}
	c.Dir = t.TempDir()
	bed, err := testbed.StartProcess(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return NewRig(t, bed, clients)
}

// SentinelRig runs on redis-server under Redis Sentinel.
func SentinelRig(t *testing.T, c testbed.SentinelConfig, clients int) *Rig {
	return deployedRig(t, clients, func(dir string, via testbed.Announce) (testbed.Testbed, error) {
		c.Dir, c.Ready, c.Announce = dir, Late, via
		return testbed.StartSentinel(t.Context(), c)
	})
}

// ClusterRig runs on redis-server in cluster mode.
func ClusterRig(t *testing.T, c testbed.ClusterConfig, clients int) *Rig {
	return deployedRig(t, clients, func(dir string, via testbed.Announce) (testbed.Testbed, error) {
		c.Dir, c.Ready, c.Announce = dir, Late, via
		return testbed.StartCluster(t.Context(), c)
	})
}

// deployedRig runs on a deployment whose servers reach one another over links.
func deployedRig(t *testing.T, clients int, start func(dir string, via testbed.Announce) (testbed.Testbed, error)) *Rig {
	if _, err := exec.LookPath("redis-server"); err != nil {
		Missing(t, err)
	}
	fabric, peers := link.NewEmbedded(), map[string]link.Link{}
	bed, err := start(t.TempDir(), func(ctx context.Context, name, addr string) (string, error) {
		l, err := fabric.Open(ctx, faults.Peers, name, addr)
		if err != nil {
			return "", err
		}
		peers[name] = l
		return l.(link.Listener).Addr(), nil
	})
	if err != nil {
		_ = fabric.Close()
		t.Fatal(err)
	}
	r := NewRigOn(t, bed, clients, fabric)
	for name, l := range peers {
		r.Links[faults.Peers+"→"+name] = l
	}
	r.Quorum = 1
	return r
}

// NewRig runs on bed, over links in this process.
func NewRig(t *testing.T, bed testbed.Testbed, clients int) *Rig {
	return NewRigOn(t, bed, clients, link.NewEmbedded())
}

// NewRigOn runs on bed, over the links of fabric. It closes both.
func NewRigOn(t *testing.T, bed testbed.Testbed, clients int, fabric link.Fabric) *Rig {
	r := &Rig{World: Idle(0, clients), Links: map[string]link.Link{}}
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
	r.Link = func(client, node string) link.Link { return r.Links[client+"→"+node] }
	for _, c := range r.Clients {
		for _, n := range append(bed.Nodes(), bed.Store()) {
			l, err := fabric.Open(t.Context(), c.Name(), n.Name(), n.Addr())
			if err != nil {
				t.Fatal(err)
			}
			r.Links[c.Name()+"→"+n.Name()] = l
		}
	}
	return r
}

// Dial returns a Redis client over the link, with connections open already.
func (r *Rig) Dial(t *testing.T, client, node string) *redis.Client {
	rdb := r.Raw(client, node)
	t.Cleanup(func() { _ = rdb.Close() })
	if err := rdb.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	return rdb
}

// Raw returns a Redis client over the link, and opens no connection.
func (r *Rig) Raw(client, node string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Dialer:     func(ctx context.Context, _, _ string) (net.Conn, error) { return r.Link(client, node).Dial(ctx) },
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true, DisableIdentity: true, Protocol: 2, PoolSize: 1,
	})
}

// Bounds on a reply.
const (
	Soon = 500 * time.Millisecond // for a reply that is not to come
	Late = 20 * time.Second       // for one that must
)

// Set sends SET NX and returns its error.
func Set(t *testing.T, rdb *redis.Client, within time.Duration, key, value string) error {
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	return rdb.SetNX(ctx, key, value, time.Minute).Err()
}

// Get reads past every link.
func (r *Rig) Get(t *testing.T, n testbed.Node, key string) string {
	v, err := testbed.Do(t.Context(), n, "GET", key)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(v)
}

// Node returns the node, or the store, of that name; nil when there is none.
func (r *Rig) Node(name string) testbed.Node {
	for _, n := range append(r.Testbed.Nodes(), r.Testbed.Store()) {
		if n.Name() == name {
			return n
		}
	}
	return nil
}

// Put stores a key on a node, past every link.
func (r *Rig) Put(t *testing.T, n testbed.Node, key, value string) {
	t.Helper()
	if _, err := testbed.Do(t.Context(), n, "SET", key, value, "PX", "60000"); err != nil {
		t.Fatal(err)
	}
}
