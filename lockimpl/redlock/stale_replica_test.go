package redlock_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/redlock"
)

// A pair is a master and its replica, which reaches it by a line that can fall
// silent.
type pair struct {
	t               *testing.T
	master, replica *redis.Client
	nodes           []lockimpl.Node
	line            *line
}

var pairConfig = redlock.Config{MaxTTL: 3 * time.Second, NodeTimeout: 2 * time.Second}

func newPair(t *testing.T) *pair {
	t.Helper()
	nodes := serverNodes(t, 2)
	p := &pair{t: t, nodes: nodes}
	for i, c := range []**redis.Client{&p.master, &p.replica} {
		*c = redis.NewClient(&redis.Options{Addr: nodes[i].Addr, MaxRetries: -1})
		t.Cleanup(func() { _ = (*c).Close() })
	}
	p.set(p.master, "repl-diskless-sync-delay", "0")
	p.line = newLine(t, nodes[0].Addr)
	at := splitAddr(t, p.line.addr())
	if err := p.replica.ReplicaOf(t.Context(), at[0], at[1]).Err(); err != nil {
		t.Fatal(err)
	}
	await(t, "the replica is in sync", func() bool {
		return strings.Contains(p.replica.Info(t.Context(), "replication").Val(), "master_link_status:up")
	})
	return p
}

func (p *pair) set(c *redis.Client, key, value string) {
	p.t.Helper()
	if err := c.ConfigSet(p.t.Context(), key, value).Err(); err != nil {
		p.t.Fatal(err)
	}
}

// promote makes the replica a master, without a word to the old one.
func (p *pair) promote() {
	p.t.Helper()
	if err := p.replica.ReplicaOf(p.t.Context(), "NO", "ONE").Err(); err != nil {
		p.t.Fatal(err)
	}
}

// caughtUp waits until the replica has everything that was written to its master.
func (p *pair) caughtUp() {
	p.t.Helper()
	c := p.master.Conn() // WAIT speaks of what its own connection wrote
	defer func() { _ = c.Close() }()
	await(p.t, "the replica has what its master has", func() bool {
		return c.Set(p.t.Context(), "any", "0", 0).Err() == nil && c.Wait(p.t.Context(), 1, time.Second).Val() == 1
	})
}

// A replica that is promoted while its master goes on serving: the guarantee
// table says that both grant, and that tokens are out of order. So they are.
func TestStaleReplicaBesideItsMaster(t *testing.T) {
	p := newPair(t)
	old := bootstrapped(t, p.nodes[:1], pairConfig)
	held, err := old.Acquire(t.Context(), "k", pairConfig.MaxTTL)
	if err != nil {
		t.Fatal(err)
	}
	p.caughtUp()
	held.(lockimpl.Renewer).Renew(nil)
	p.promote()
	successor := client(t, p.nodes[1:], pairConfig)
	second := grantedAfterQuarantine(t, successor, "k")
	if !relied(held) || !relied(second) {
		t.Error("two holders at once is what the table says, and there is one")
	}
	_ = held.Release(t.Context())
	third, err := old.Acquire(t.Context(), "k", pairConfig.MaxTTL)
	if err != nil {
		t.Fatal(err)
	}
	if third.Fence() > second.Fence() {
		t.Errorf("token %d after %d: the table says that they are out of order", third.Fence(), second.Fence())
	}
}

// The same behind a master that refuses to write once its replica has not been
// heard for min-replicas-max-lag, and with a replica that is promoted after
// that: there is one holder, and tokens are in order.
func TestStaleReplicaOfAMasterThatMissesIt(t *testing.T) {
	p := newPair(t)
	p.set(p.master, "min-replicas-to-write", "1")
	p.set(p.master, "min-replicas-max-lag", "2")
	await(t, "the master counts its replica", func() bool {
		return strings.Contains(p.master.Info(t.Context(), "replication").Val(), "min_slaves_good_slaves:1")
	})
	cfg := pairConfig
	cfg.NoProposals = true
	old := bootstrapped(t, p.nodes[:1], cfg)
	held, err := old.Acquire(t.Context(), "k", cfg.MaxTTL)
	if err != nil {
		t.Fatal(err)
	}
	p.caughtUp()
	held.(lockimpl.Renewer).Renew(nil)
	p.line.silence()
	silent, last := time.Now(), uint64(0)
	await(t, "the master misses its replica", func() bool {
		if lease, err := old.Acquire(t.Context(), "brief", cfg.MaxTTL); err == nil {
			last = lease.Fence()
			_ = lease.Release(t.Context())
		}
		err := p.master.Set(t.Context(), "any", "1", 0).Err()
		return err != nil && strings.HasPrefix(err.Error(), "NOREPLICAS")
	})
	t.Logf("the master went on writing for %v after the last word of its replica (min-replicas-max-lag 2)", time.Since(silent).Round(time.Millisecond))
	p.promote()
	successor := client(t, p.nodes[1:], cfg)
	second := grantedAfterQuarantine(t, successor, "k")
	if relied(held) {
		t.Errorf("two holders: the first for another %v, tokens %d and %d", time.Until(held.ValidUntil()), held.Fence(), second.Fence())
	}
	if brief := grantedAfterQuarantine(t, successor, "brief"); last == 0 || brief.Fence() <= last || second.Fence() <= held.Fence() {
		t.Errorf("tokens %d after %d, %d after %d", second.Fence(), held.Fence(), brief.Fence(), last)
	}
	if third, err := old.Acquire(t.Context(), "k", cfg.MaxTTL); err == nil {
		t.Errorf("the old master still grants, token %d after %d", third.Fence(), second.Fence())
	}
}

// grantedAfterQuarantine waits for key long enough for several quarantines.
func grantedAfterQuarantine(t *testing.T, l *redlock.Locker, key string) lockimpl.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	lease, err := l.AcquireWait(ctx, key, pairConfig.MaxTTL)
	if err != nil {
		t.Fatalf("acquire %s of the successor: %v", key, err)
	}
	return lease
}

// line is a way to a server that can fall silent, as a network does that loses
// everything.
type line struct {
	ln   net.Listener
	wg   sync.WaitGroup
	mu   sync.Mutex
	open []net.Conn
	mute chan struct{}
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{ln: ln, mute: make(chan struct{})}
	l.wg.Go(func() { l.serve(to) })
	t.Cleanup(func() {
		_ = ln.Close()
		l.mu.Lock()
		for _, c := range l.open {
			_ = c.Close()
		}
		l.mu.Unlock()
		l.wg.Wait()
	})
	return l
}

func (l *line) addr() string { return l.ln.Addr().String() }

// silence loses everything from now on; connections stay.
func (l *line) silence() { close(l.mute) }

func (l *line) serve(to string) {
	for {
		from, err := l.ln.Accept()
		if err != nil {
			return
		}
		there, err := net.Dial("tcp", to)
		if err != nil {
			_ = from.Close()
			continue
		}
		l.mu.Lock()
		l.open = append(l.open, from, there)
		l.mu.Unlock()
		l.wg.Go(func() { l.carry(from, there) })
		l.wg.Go(func() { l.carry(there, from) })
	}
}

func (l *line) carry(to, from net.Conn) {
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		select {
		case <-l.mute:
			if err != nil {
				return // the other end is not told
			}
			continue
		default:
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if err == io.EOF {
				_ = to.Close()
			}
			return
		}
	}
}
