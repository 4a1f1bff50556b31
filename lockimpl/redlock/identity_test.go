package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/redistest"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// notBefore has l take key as soon as it can, and fails when that is before
// the deadline of a lease that was given before.
func notBefore(t *testing.T, l world.Lock, held lockimpl.Lease) {
	t.Helper()
	for {
		next, err := l.Acquire(t.Context(), "k", time.Second)
		if err != nil {
			if time.Since(held.ValidUntil()) > 2*time.Minute {
				t.Fatalf("not granted again: %v", err)
			}
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if early := time.Until(held.ValidUntil()); early > 0 {
			t.Errorf("granted %v before the end of another lease", early)
		}
		if next.Fence() <= held.Fence() {
			t.Errorf("token %d after %d", next.Fence(), held.Fence())
		}
		return
	}
}

// A server that comes back with nothing, with older data, or from a demotion
// with another's data, may have granted leases that it does not know of.
func TestServerThatComesBackWithoutALeaseKeepsOthersOutUntilItsEnd(t *testing.T) {
	for name, comeBack := range map[string]func(w *world.World, l world.Lock){
		"empty":          func(w *world.World, _ world.Lock) { w.Forget(1) },
		"with old data":  func(w *world.World, l world.Lock) { w.Restart(l, 1, "k") },
		"after demotion": func(w *world.World, l world.Lock) { w.Promote(l, 1, "k") },
	} {
		t.Run(name, func(t *testing.T) {
			for _, known := range []bool{false, true} {
				withAndWithoutHints(t, 1, func(t *testing.T, w *world.World, f lockimpl.Factory) {
					a, _ := w.Client(f)
					b, _ := w.Client(f)
					if known { // b has a connection from before
						warm(t, b)
					}
					held := take(t, a, "k", 10*time.Second)
					time.Sleep(10 * time.Millisecond)
					comeBack(w, a)
					notBefore(t, b, held)
				})
			}
		})
	}
}

// The same on a redis-server, which is demoted to a replica of one that was fed
// by it and has lost touch, and promoted again, while connections stay.
func TestDemotedAndPromotedServerKeepsOthersOut(t *testing.T) {
	nodes := serverNodes(t, 2)
	single := nodes[:1]
	main := redis.NewClient(&redis.Options{Addr: nodes[0].Addr})
	defer main.Close()
	copied := redis.NewClient(&redis.Options{Addr: nodes[1].Addr})
	defer copied.Close()
	for _, c := range []*redis.Client{main, copied} {
		if err := c.ConfigSet(t.Context(), "repl-diskless-sync-delay", "0").Err(); err != nil {
			t.Fatal(err)
		}
	}
	follows := func(c, master *redis.Client) {
		t.Helper()
		m := splitAddr(t, master.Options().Addr)
		if err := c.ReplicaOf(t.Context(), m[0], m[1]).Err(); err != nil {
			t.Fatal(err)
		}
		await(t, "the replica is in sync", func() bool {
			return strings.Contains(c.Info(t.Context(), "replication").Val(), "master_link_status:up")
		})
	}
	alone := func(c *redis.Client) {
		t.Helper()
		if err := c.ReplicaOf(t.Context(), "NO", "ONE").Err(); err != nil {
			t.Fatal(err)
		}
	}
	follows(copied, main)
	a := bootstrapped(t, single, quick)
	b := client(t, single, quick)
	warmUp := eventuallyGranted(t, b, "warm")
	if err := warmUp.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := main.Set(t.Context(), "last", "1", 0).Err(); err != nil {
		t.Fatal(err)
	}
	await(t, "the copy has all that was written, admission too", func() bool { return copied.Get(t.Context(), "last").Val() == "1" })
	alone(copied) // it stops listening before the lease is given
	held, err := a.Acquire(t.Context(), "k", 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	follows(main, copied)
	alone(main)

	await(t, "the server says that it is not admitted", func() bool { // a connection may have been lost meanwhile
		next, err := b.Acquire(t.Context(), "k", 10*time.Second)
		if err == nil {
			t.Fatalf("second holder %v before the end of the first, tokens %d and %d", time.Until(held.ValidUntil()), held.Fence(), next.Fence())
		}
		return errors.Is(err, redlock.ErrNotAdmitted)
	})
}

func TestServerThatDoesNotSayWhoItIs(t *testing.T) {
	m := miniredis.RunT(t) // knows neither section of INFO
	nodes := nodesAt([]string{m.Addr()})
	l := client(t, nodes, redlock.Config{NodeTimeout: 2 * time.Second, FirstTime: true})
	if err := l.Bootstrap(t.Context()); !errors.Is(err, redlock.ErrAnonymousServer) {
		t.Fatalf("bootstrap: %v, want ErrAnonymousServer", err)
	}
	for name, acquire := range map[string]func() (lockimpl.Lease, error){
		"acquire": func() (lockimpl.Lease, error) { return l.Acquire(t.Context(), "k", time.Second) },
		"wait":    func() (lockimpl.Lease, error) { return l.AcquireWait(t.Context(), "k", time.Second) },
	} {
		if _, err := acquire(); !errors.Is(err, redlock.ErrAnonymousServer) || !errors.Is(err, lockimpl.ErrNoQuorum) {
			t.Errorf("%s: %v, want ErrNoQuorum, ErrAnonymousServer", name, err)
		}
	}
	trusting := client(t, nodes, redlock.Config{NodeTimeout: 2 * time.Second, FirstTime: true, AnonymousServers: true})
	if err := trusting.Bootstrap(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lease, err := trusting.Acquire(t.Context(), "k", time.Second); err != nil {
		t.Error(err)
	} else if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// hidden are the ways in which a server that runs hides INFO, with what it answers.
var hidden = []struct{ name, answer string }{{"forbidden", "NOPERM"}, {"renamed", "unknown command"}}

// hiding starts a server that hides INFO in one of those ways, and returns the node for it.
func hiding(t *testing.T, how string) lockimpl.Node {
	t.Helper()
	if how == "renamed" {
		return serverNodes(t, 1, "--rename-command", "INFO", otherInfo)[0]
	}
	n := serverNodes(t, 1)[0]
	forbid(t, n.Addr, "-info")
	n.Username = "lock"
	return n
}

// forbid has a server know a user called lock, with these rules.
func forbid(t *testing.T, addr string, rules ...any) {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr})
	defer c.Close()
	user := append([]any{"ACL", "SETUSER", "lock", "reset", "on", "nopass", "allkeys", "allchannels", "+@all"}, rules...)
	if err := c.Do(t.Context(), user...).Err(); err != nil {
		t.Fatal(err)
	}
}

// A server that refuses INFO is used by who accepts that, for all that a lock does; whoever
// does not is told what it answered.
func TestServerThatRefusesToSayWhoItIs(t *testing.T) {
	for _, h := range hidden {
		t.Run(h.name, func(t *testing.T) {
			nodes := []lockimpl.Node{hiding(t, h.name)}
			cannotBeMended(t, client(t, nodes, patient), "k", h.answer)
			if _, err := client(t, nodes, patient).Acquire(t.Context(), "k", time.Second); !errors.Is(err, redlock.ErrAnonymousServer) {
				t.Errorf("acquire: %v, want ErrAnonymousServer", err)
			}
			trusting := patient
			trusting.AnonymousServers = true
			l, other := bootstrapped(t, nodes, trusting), client(t, nodes, trusting)
			held := eventuallyGranted(t, l, "k")
			if _, err := other.Acquire(t.Context(), "k", time.Second); !errors.Is(err, lockimpl.ErrHeld) {
				t.Errorf("beside the holder: %v, want ErrHeld", err)
			}
			if err := held.Extend(t.Context(), 5*time.Second); err != nil {
				t.Error(err)
			}
			granted := make(chan lockimpl.Lease, 1)
			go func() {
				lease, err := other.AcquireWait(t.Context(), "k", 5*time.Second)
				if err != nil {
					t.Error(err)
				}
				granted <- lease
			}()
			await(t, "it waits", func() bool {
				in, err := l.Inspect(t.Context(), "k")
				return err == nil && in.Waiting == 1
			})
			if err := held.Release(t.Context()); err != nil {
				t.Error(err)
			}
			if next := <-granted; next != nil && next.Fence() <= held.Fence() {
				t.Errorf("token %d after %d", next.Fence(), held.Fence())
			}
		})
	}
}

// Who may ask a server who it is, but not whether it evicts keys, is refused like who may ask
// nothing.
func TestServerThatRefusesAPartOfWhatIsAsked(t *testing.T) {
	nodes := serverNodes(t, 1)
	bootstrapped(t, nodes, patient)
	nodes[0].Username = "lock"
	for _, rules := range [][]any{
		{"-info", "+info|server", "+info|replication"}, {"-info", "+info|server", "+info|memory"}, {"-info", "+info|replication"},
	} {
		forbid(t, nodes[0].Addr, rules...)
		trusting := patient
		trusting.AnonymousServers = true
		if _, err := client(t, nodes, patient).Acquire(t.Context(), "k", time.Second); !errors.Is(err, redlock.ErrAnonymousServer) {
			t.Errorf("%v: %v, want ErrAnonymousServer", rules, err)
		}
		if _, err := client(t, nodes, trusting).Acquire(t.Context(), "k", time.Second); errors.Is(err, redlock.ErrAnonymousServer) || errors.Is(err, redlock.ErrMisconfigured) {
			t.Errorf("%v: %v, though that is accepted", rules, err)
		}
	}
}

// A server that no longer says who it is, since its user may not ask any more, is not taken
// for the one that it was: nobody would notice that it has been another meanwhile.
func TestServerThatNoLongerSaysWhoItIs(t *testing.T) {
	for _, n := range []int{1, 3} {
		for _, accepted := range []bool{false, true} {
			world.Run(t, n, func(t *testing.T, w *world.World) {
				l, _ := api(w, redlock.Config{AnonymousServers: accepted})
				connect(t, l)
				time.Sleep(time.Second)
				w.Deny("INFO")
				_, err := l.Acquire(t.Context(), "k", time.Second)
				if accepted && err != nil || !accepted && !errors.Is(err, redlock.ErrAnonymousServer) {
					t.Errorf("%d nodes, accepted %v: %v", n, accepted, err)
				}
			})
		}
	}
}

func TestOneServerIsNotTwoNodes(t *testing.T) {
	m := miniredis.RunT(t)
	redistest.Identify(m)
	nodes := make([]lockimpl.Node, 3)
	for i := range nodes {
		nodes[i] = lockimpl.Node{Name: fmt.Sprint("n", i+1), Dial: dialTo(m.Addr())}
	}
	l := client(t, nodes, redlock.Config{NodeTimeout: 2 * time.Second, FirstTime: true})
	if err := l.Bootstrap(t.Context()); !errors.Is(err, redlock.ErrSameServer) {
		t.Errorf("bootstrap: %v, want ErrSameServer", err)
	}
	if _, err := l.AcquireWait(t.Context(), "k", time.Second); !errors.Is(err, redlock.ErrSameServer) {
		t.Errorf("acquire: %v, want ErrSameServer", err)
	}
}

// A server that drops keys when its memory is full drops leases that are held.
func TestServerThatEvictsKeysIsRefused(t *testing.T) {
	nodes := serverNodes(t, 1)
	bootstrapped(t, nodes, quick)
	c := redis.NewClient(&redis.Options{Addr: nodes[0].Addr})
	defer c.Close()
	for _, s := range []struct {
		limit, policy string
		fit           bool
	}{
		{"100mb", "volatile-lru", false}, {"100mb", "allkeys-lru", false}, {"100mb", "volatile-ttl", false},
		{"100mb", "noeviction", true}, {"0", "volatile-lru", true},
	} {
		for name, value := range map[string]string{"maxmemory": s.limit, "maxmemory-policy": s.policy} {
			if err := c.ConfigSet(t.Context(), name, value).Err(); err != nil {
				t.Fatal(err)
			}
		}
		l := client(t, nodes, quick)
		if s.fit {
			if err := eventuallyGranted(t, l, "k").Release(t.Context()); err != nil {
				t.Errorf("%+v: %v", s, err)
			}
			continue
		}
		_, err := l.AcquireWait(t.Context(), "k", time.Second)
		if !errors.Is(err, redlock.ErrEvictingServer) || !errors.Is(err, redlock.ErrMisconfigured) || !errors.Is(err, lockimpl.ErrNoQuorum) {
			t.Errorf("%+v: %v, want ErrEvictingServer", s, err)
		}
	}
}

// Servers that change places behind their addresses are used again.
func TestServersThatChangePlacesAreUsedAgain(t *testing.T) {
	servers := embedded(t, 3)
	at := addrs(servers)
	bootstrapped(t, nodesAt(at), patient)
	var mu sync.Mutex
	var open []net.Conn
	swapped := false
	nodes := make([]lockimpl.Node, 3)
	for i := range nodes {
		nodes[i] = lockimpl.Node{Name: fmt.Sprint("n", i+1), Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			mu.Lock()
			defer mu.Unlock()
			to := i
			if swapped {
				to = []int{1, 0, 2}[i]
			}
			c, err := new(net.Dialer).DialContext(ctx, network, at[to])
			if err == nil {
				open = append(open, c)
			}
			return c, err
		}}
	}
	l := client(t, nodes, redlock.Config{NodeTimeout: 2 * time.Second})
	if err := eventuallyGranted(t, l, "before").Release(t.Context()); err != nil {
		t.Error(err)
	}
	await(t, "every node is known", func() bool {
		all, err := l.Admission(t.Context())
		return err == nil && !slices.ContainsFunc(all, func(n redlock.NodeStatus) bool { return n.State != redlock.Admitted })
	})
	mu.Lock()
	swapped = true
	for _, c := range open {
		_ = c.Close()
	}
	mu.Unlock()
	servers[2].Close() // without the two there is no quorum
	if err := eventuallyGranted(t, l, "after").Release(t.Context()); err != nil {
		t.Error(err)
	}
}
