package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/redistest"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// quick is a client that does not wait long for servers that refuse.
var quick = redlock.Config{NodeTimeout: 2 * time.Second, MaxTTL: 30 * time.Second}

// eventuallyGranted acquires key from servers that have just begun to serve
// again.
func eventuallyGranted(t *testing.T, l world.Lock, key string) lockimpl.Lease {
	t.Helper()
	for deadline, pause := time.Now().Add(30*time.Second), 5*time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		lease, err := l.Acquire(t.Context(), key, 10*time.Second)
		if err == nil {
			return lease
		}
		if time.Now().After(deadline) {
			t.Fatalf("acquire of a server that serves again: %v", err)
		}
		time.Sleep(pause)
	}
}

func isGone(t *testing.T, c *redis.Client, l world.Lock, key string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if n, err := c.Exists(t.Context(), l.LeaseKeys(key)...).Result(); err == nil && n == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("a lease on %s is left", key)
		}
	}
}

// Errors that a server may take back are no grant and no lasting failure: the
// attempt is refused, definitely, and the next one after the error is granted.
func TestServersThatRefuseForAWhile(t *testing.T) {
	for _, answer := range []string{
		"LOADING Redis is loading the dataset in memory",
		"READONLY You can't write against a read only replica.",
		"OOM command not allowed when used memory > 'maxmemory'.",
		"BUSY Redis is busy running a script.",
		"TRYAGAIN Multiple keys request during rehashing of slot",
		"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
	} {
		t.Run(answer[:4], func(t *testing.T) {
			servers := embedded(t, 3)
			l := bootstrapped(t, nodesAt(addrs(servers)), quick)
			held, earlier := eventuallyGranted(t, l, "held"), eventuallyGranted(t, l, "k")
			if err := earlier.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, m := range servers[:2] {
				m.SetError(answer)
			}
			if _, err := l.Acquire(t.Context(), "k", 10*time.Second); !errors.Is(err, lockimpl.ErrNoQuorum) {
				t.Errorf("acquire: %v, want ErrNoQuorum", err)
			}
			if err := held.Extend(t.Context(), 10*time.Second); err == nil || errors.Is(err, lockimpl.ErrLost) {
				t.Errorf("extend: %v, want an unknown outcome", err)
			}
			for _, m := range servers[:2] {
				redistest.Identify(m) // in the place of the error
			}
			later := eventuallyGranted(t, l, "k")
			if later.Fence() <= earlier.Fence() {
				t.Errorf("token %d after %d", later.Fence(), earlier.Fence())
			}
			if err := later.Release(t.Context()); err != nil {
				t.Error(err)
			}
			if err := held.Release(t.Context()); err != nil {
				t.Errorf("release of the lease from before: %v", err)
			}
		})
	}
}

func TestServerWithoutMemoryLetsLeasesBeReleased(t *testing.T) {
	nodes := serverNodes(t, 1)
	l := bootstrapped(t, nodes, quick)
	c := redis.NewClient(&redis.Options{Addr: nodes[0].Addr})
	defer c.Close()
	held := eventuallyGranted(t, l, "held")
	if err := c.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Acquire(t.Context(), "k", 10*time.Second); !errors.Is(err, lockimpl.ErrNoQuorum) {
		t.Errorf("acquire out of memory: %v, want ErrNoQuorum", err)
	}
	if err := held.Release(t.Context()); err != nil {
		t.Errorf("release out of memory: %v", err)
	}
	if err := c.ConfigSet(t.Context(), "maxmemory", "0").Err(); err != nil {
		t.Fatal(err)
	}
	lease := eventuallyGranted(t, l, "k")
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	isGone(t, c, l, "k")
}

func TestServerThatForgetsItsScriptsIsTaughtThem(t *testing.T) {
	nodes := serverNodes(t, 3)
	l := bootstrapped(t, nodes, patient)
	flush := func() {
		for _, n := range nodes {
			c := redis.NewClient(&redis.Options{Addr: n.Addr})
			if err := c.ScriptFlush(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
		}
	}
	flush()
	lease, err := l.Acquire(t.Context(), "k", 10*time.Second)
	if err != nil {
		t.Fatalf("acquire after SCRIPT FLUSH: %v", err)
	}
	flush()
	if err := lease.Extend(t.Context(), 10*time.Second); err != nil {
		t.Fatalf("extend after SCRIPT FLUSH: %v", err)
	}
	flush()
	if err := lease.Release(t.Context()); err != nil {
		t.Fatalf("release after SCRIPT FLUSH: %v", err)
	}
}

func TestDemotedServerServesNobody(t *testing.T) {
	nodes := serverNodes(t, 1)
	l := bootstrapped(t, nodes, redlock.Config{NodeTimeout: 2 * time.Second, MaxTTL: time.Second})
	c := redis.NewClient(&redis.Options{Addr: nodes[0].Addr})
	defer c.Close()
	if err := c.ReplicaOf(t.Context(), "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Acquire(t.Context(), "k", time.Second); !errors.Is(err, lockimpl.ErrNoQuorum) {
		t.Errorf("acquire of a replica: %v, want ErrNoQuorum", err)
	}
	if err := c.ReplicaOf(t.Context(), "NO", "ONE").Err(); err != nil {
		t.Fatal(err)
	}
	backWithin(t, l, 30*time.Second) // after a quarantine: it may have been given older data
}

func TestBusyServerDelaysAndLeavesNothing(t *testing.T) {
	nodes := serverNodes(t, 1)
	l := bootstrapped(t, nodes, quick)
	c := redis.NewClient(&redis.Options{Addr: nodes[0].Addr, MaxRetries: -1, ReadTimeout: time.Minute})
	defer c.Close()
	if err := c.ConfigSet(t.Context(), "busy-reply-threshold", "10").Err(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Eval(context.Background(), "while true do end", nil).Err() }()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		if err := c.Ping(t.Context()).Err(); err != nil {
			break // BUSY
		}
		if time.Now().After(deadline) {
			t.Fatal("the server never got busy")
		}
	}
	if _, err := l.Acquire(t.Context(), "k", 10*time.Second); err == nil {
		t.Error("granted by a busy server")
	}
	if err := c.ScriptKill(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("the endless script ended")
	}
	isGone(t, c, l, "k")
	if err := eventuallyGranted(t, l, "k").Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func ExampleErrNoQuorum() {
	clients, stop := exampleServers(3)
	lock, err := redlock.New(redlock.Config{}, clients...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lock.Close()
	stop() // nobody answers
	_, err = lock.Acquire(context.Background(), "invoice-17", 5*time.Second)
	fmt.Println(errors.Is(err, redlock.ErrHeld), errors.Is(err, redlock.ErrNoQuorum))
	// Output: false true
}

// What the lock needs of an ACL is written in README.md; a user without the
// channels releases all the same.
func TestUserWithoutPasswordAndWithoutChannels(t *testing.T) {
	nodes := serverNodes(t, 1)
	c := redis.NewClient(&redis.Options{Addr: nodes[0].Addr})
	defer c.Close()
	rules := aclRules(t)
	for user, channels := range map[string]string{"full": "&lock:wake:*", "quiet": "resetchannels"} {
		set := []any{"ACL", "SETUSER", user, "reset", "on", "nopass"}
		for _, rule := range rules {
			if rule == "&lock:wake:*" {
				rule = channels
			}
			set = append(set, rule)
		}
		if err := c.Do(t.Context(), set...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Do(t.Context(), "ACL", "SETUSER", "admin", "on", "nopass", "allkeys", "+@all").Err(); err != nil {
		t.Fatal(err)
	}
	admin := redis.NewClient(&redis.Options{Addr: nodes[0].Addr, Username: "admin", Password: "any"})
	defer admin.Close()
	if err := admin.Do(t.Context(), "ACL", "SETUSER", "default", "off").Err(); err != nil {
		t.Fatal(err)
	}
	as := func(user string) *redlock.Lock {
		l, err := redlock.NewFromOptions(setUp(quick), &redis.Options{Addr: nodes[0].Addr, Username: user})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	waiter := as("full")
	if err := waiter.Bootstrap(t.Context()); err != nil {
		t.Fatal(err)
	}
	reader, err := waiter.AcquireShared(t.Context(), "s", 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(reader.Extend(t.Context(), 10*time.Second), reader.Release(t.Context()), waiter.RaiseMaxTTL(t.Context())); err != nil {
		t.Error(err)
	}
	holder := as("quiet")
	lease, err := holder.Acquire(t.Context(), "k", 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	granted := make(chan error, 1)
	go func() {
		lease, err := waiter.AcquireWait(t.Context(), "k", 10*time.Second)
		if err == nil {
			err = lease.Release(t.Context())
		}
		granted <- err
	}()
	await(t, "a waiter has queued", func() bool { return len(admin.Keys(t.Context(), "lock:{k}:qt").Val()) > 0 })
	if err := lease.Release(t.Context()); err != nil {
		t.Errorf("release without channels: %v", err)
	}
	if err := <-granted; err != nil {
		t.Errorf("the waiter: %v", err)
	}
}

// lacking is a client of a server whose user lacks something of what README.md tells.
func lacking(t *testing.T, admin *redis.Client, cfg redlock.Config, missing string) *redlock.Lock {
	t.Helper()
	set := []any{"ACL", "SETUSER", "lacking", "reset", "on", "nopass"}
	for _, rule := range append(aclRules(t), missing) {
		set = append(set, rule)
	}
	if err := admin.Do(t.Context(), set...).Err(); err != nil {
		t.Fatal(err)
	}
	l, err := redlock.NewFromOptions(cfg, &redis.Options{Addr: admin.Options().Addr, Username: "lacking"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// A user who lacks a command that comes late in a script is refused, and nothing is taken; nor
// does anything stay for ever.
func TestCommandThatIsMissingLeavesNoKey(t *testing.T) {
	nodes := serverNodes(t, 1)
	bootstrapped(t, nodes, quick)
	admin := redis.NewClient(&redis.Options{Addr: nodes[0].Addr})
	defer admin.Close()
	for _, missing := range []string{"zrem", "zadd", "pttl", "pexpire", "del", "zrange", "zscore", "set", "zremrangebyscore", "time", "publish"} {
		l := lacking(t, admin, setUp(quick), "-"+missing)
		for name, ask := range asks {
			key := missing + "-" + name
			err := within(t, 30*time.Second, func(ctx context.Context) error { return ask(ctx, &redlock.Locker{Lock: l}, key) })
			if errors.Is(err, redlock.ErrHeld) {
				t.Errorf("without %s, %s: %v", missing, name, err)
			}
			keys := (&redlock.Locker{Lock: l}).LeaseKeys(key)[:1]
			if n, e := admin.Exists(t.Context(), keys...).Result(); e != nil || err != nil && n != 0 {
				t.Errorf("without %s, %s: refused (%v), and the lock is taken (%v)", missing, name, err, e)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	keys, err := admin.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if admin.PTTL(t.Context(), key).Val() == withoutExpiry && !redlock.SharedKey("lock", key) { // those that have gone since are fine
			t.Errorf("%s stays for ever", key)
		}
	}
}

// withoutExpiry is what PTTL answers for a key that stays for ever.
const withoutExpiry = time.Duration(-1)

// A reader who is refused in the middle of a script bars the key for nobody.
func TestReaderThatIsRefusedKeepsNobodyOut(t *testing.T) {
	nodes := serverNodes(t, 1)
	l := bootstrapped(t, nodes, quick).Lock
	admin := redis.NewClient(&redis.Options{Addr: nodes[0].Addr})
	defer admin.Close()
	reads, err := l.AcquireShared(t.Context(), "k", 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lacking(t, admin, setUp(quick), "-pexpire").AcquireShared(t.Context(), "k", 20*time.Second); !errors.Is(err, redlock.ErrMisconfigured) {
		t.Fatalf("%v, want ErrMisconfigured", err)
	}
	if err := reads.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	writes, err := l.Acquire(t.Context(), "k", time.Second)
	if err != nil {
		t.Fatalf("the only reader has left: %v", err)
	}
	if err := writes.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// A server that is out of memory goes on renewing what it has granted, to readers too.
func TestLeasesAreRenewedWithoutMemory(t *testing.T) {
	nodes := serverNodes(t, 1)
	l := bootstrapped(t, nodes, quick).Lock
	admin := redis.NewClient(&redis.Options{Addr: nodes[0].Addr})
	defer admin.Close()
	writes, err := l.Acquire(t.Context(), "w", 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	reads, err := l.AcquireShared(t.Context(), "r", 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.ConfigSet(t.Context(), "maxmemory", "1mb").Err(); err != nil {
		t.Fatal(err)
	}
	for name, lease := range map[string]*redlock.Lease{"writer": writes, "reader": reads} {
		if err := errors.Join(lease.Extend(t.Context(), 3*time.Second), lease.Extend(t.Context(), 4*time.Second), lease.Release(t.Context())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := l.Acquire(t.Context(), "new", time.Second); err == nil || errors.Is(err, redlock.ErrHeld) {
		t.Errorf("a server without memory granted a lease, or says that it is held: %v", err)
	}
}

// Why a node cannot be admitted is told, and a wait that cannot be served for that ends.
func TestWhyANodeIsNotAdmittedIsTold(t *testing.T) {
	nodes := serverNodes(t, 1)
	admin := redis.NewClient(&redis.Options{Addr: nodes[0].Addr})
	defer admin.Close()
	l := lacking(t, admin, setUp(quick), "-set")
	began := time.Now()
	err := within(t, time.Minute, func(ctx context.Context) error {
		_, err := l.AcquireWait(ctx, "k", time.Second)
		return err
	})
	if !errors.Is(err, redlock.ErrMisconfigured) || !errors.Is(err, redlock.ErrNotAdmitted) || !strings.Contains(err.Error(), "its admission fails: ") {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

// A server that does not know SCRIPT is sent the text of each.
func TestServerWithoutSCRIPT(t *testing.T) {
	nodes := serverNodes(t, 1, "--rename-command", "SCRIPT", "")
	l := bootstrapped(t, nodes, quick)
	lease, err := l.AcquireWait(t.Context(), "k", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// What is wrong with a URL is told without its password.
func TestURLsKeepTheirPasswords(t *testing.T) {
	for _, u := range []string{"redis://user:s3cret%zz@127.0.0.1:6379", "redis://user:s3cret/x@127.0.0.1:6379", "redis://user:s3cret@127.0.0.1:port"} {
		_, err := redlock.NewFromURLs(quick, "redis://127.0.0.1:1", u)
		if !errors.Is(err, redlock.ErrMisconfigured) || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "node 2") {
			t.Errorf("%s: %v", u, err)
		}
	}
}

// A name has so many characters, whatever they take.
func TestNameIsMeasuredInCharacters(t *testing.T) {
	for n, ok := range map[int]bool{64: true, 65: false} {
		cfg := quick
		cfg.Name = strings.Repeat("\u540d", n)
		l, err := redlock.NewFromURLs(cfg, "redis://127.0.0.1:1")
		if ok != (err == nil) {
			t.Errorf("%d characters: %v", n, err)
		}
		if err == nil {
			_ = l.Close()
		}
	}
}
