package child

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/redistest"
)

// A wrapper is a program to be put under test with what it needs.
type wrapper struct {
	name    string
	command Command
	present []string // a command that succeeds when all that it needs is there
	pkg     string   // Debian's package
}

var (
	python = wrapper{
		name: "redis-py", pkg: "python3-redis", present: []string{"/usr/bin/python3", "-c", "import redis"},
		command: Command{Path: "/usr/bin/python3", Args: []string{"wrappers/redis_py.py"}},
	}
	asyncio = wrapper{
		name: "redis-py asyncio", pkg: python.pkg, present: python.present,
		command: Command{Path: python.command.Path, Args: []string{"wrappers/redis_asyncio.py"}},
	}
	ruby = wrapper{
		name: "redis-rb", pkg: "ruby-redis", present: []string{"/usr/bin/ruby", "-e", `require "redis"`},
		command: Command{Path: "/usr/bin/ruby", Args: []string{"wrappers/redis_rb.rb"}},
	}
)

var node = wrapper{
	name: "Node", pkg: "nodejs", present: []string{"node", "--version"},
	command: Command{Path: "node", Args: []string{"wrappers/my_lock.mjs"}},
}

func (w wrapper) need(t *testing.T) {
	t.Helper()
	if err := exec.CommandContext(t.Context(), w.present[0], w.present[1:]...).Run(); err != nil {
		redistest.Need(t, w.pkg)
	}
}

// open starts a child; at the end of the test it must leave by itself and have
// kept to the protocol.
func open(t *testing.T, c Command, rdb *redis.Client) lockimpl.Locker {
	t.Helper()
	l := start1(t, c, rdb)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if f := l.(Process).Findings(); len(f) > 0 {
			t.Errorf("findings: %q", f)
		}
	})
	return l
}

// patientStart is for interpreters on a machine that has much else to do.
const patientStart = 5 * time.Minute

func start1(t *testing.T, c Command, rdb *redis.Client) lockimpl.Locker {
	t.Helper()
	var nodes []lockimpl.Node
	if rdb != nil {
		nodes = []lockimpl.Node{{Name: "n1", Addr: rdb.Options().Addr}}
	}
	var log strings.Builder
	c.Log, c.Start = &log, cmp.Or(c.Start, patientStart)
	t.Cleanup(func() {
		if t.Failed() && log.Len() > 0 {
			t.Logf("the child's log:\n%s", log.String())
		}
	})
	l, err := c.Factory()(nodes)
	if err != nil {
		t.Fatalf("start child: %v\n%s", err, log.String())
	}
	return l
}

func mustAcquire(t *testing.T, l lockimpl.Locker, ttl time.Duration) lockimpl.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), "k", ttl)
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	return lease
}

// A diary keeps a child's writes.
type diary struct {
	mu     sync.Mutex
	writes []Write
	more   chan struct{}
}

func watch(l lockimpl.Locker) *diary {
	d := &diary{more: make(chan struct{}, 1)}
	l.(Observable).ObserveWrites(d)
	return d
}

func (d *diary) ObserveWrite(w Write) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes = append(d.writes, w)
	select {
	case d.more <- struct{}{}:
	default:
	}
}

// names are the writes seen so far, each by its handle and number.
func (d *diary) names() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []string
	for _, w := range d.writes {
		all = append(all, fmt.Sprintf("%s/%d", w.Handle, w.N))
	}
	return strings.Join(all, " ")
}

// after waits for a write that was issued and received after at.
func (d *diary) after(t *testing.T, at time.Time) Write {
	t.Helper()
	for {
		d.mu.Lock()
		for _, w := range d.writes {
			if w.Issued.After(at) {
				d.mu.Unlock()
				return w
			}
		}
		d.mu.Unlock()
		select {
		case <-d.more:
		case <-t.Context().Done():
			t.Fatal("no further write")
		}
	}
}

// TestWrappers drives every wrapper through the life of a lease.
func TestWrappers(t *testing.T) {
	for _, w := range []wrapper{python, asyncio, ruby, node, inGo} {
		t.Run(w.name, func(t *testing.T) {
			w.need(t)
			rdb := redistest.Start(t)
			a, b := open(t, w.command, rdb), open(t, w.command, rdb)
			const ttl = 30 * time.Second
			lease := mustAcquire(t, a, ttl)
			if _, err := b.Acquire(t.Context(), "k", ttl); !errors.Is(err, lockimpl.ErrHeld) {
				t.Errorf("second acquire: %v, want ErrHeld", err)
			}
			if err := lease.Extend(t.Context(), 2*ttl); err != nil {
				t.Errorf("extend: %v", err)
			}
			if left := rdb.PTTL(t.Context(), a.(lockimpl.KeyLister).LeaseKeys("k")[0]).Val(); left <= ttl {
				t.Errorf("time left after the extension: %v", left)
			}
			began, ended := lease.(interface{ Took() (_, _ time.Time) }).Took()
			if !began.Before(ended) || ended.After(time.Now()) {
				t.Errorf("acquired from %v to %v", began, ended)
			}
			done := make(chan error, 1)
			go func() {
				next, err := b.(lockimpl.WaitLocker).AcquireWait(t.Context(), "k", ttl)
				if err == nil {
					err = next.Release(t.Context())
				}
				done <- err
			}()
			asked := time.Now()
			if err := lease.Release(t.Context()); err != nil {
				t.Errorf("release: %v", err)
			}
			began, ended = lease.(interface{ Took() (_, _ time.Time) }).Took()
			if began.Before(asked.Add(-time.Millisecond)) || ended.Before(began) || ended.After(time.Now()) {
				t.Errorf("asked to release at %v, released from %v to %v", asked, began, ended)
			}
			if err := <-done; err != nil {
				t.Errorf("wait for the release: %v", err)
			}
			late := mustAcquire(t, a, ttl)
			if err := rdb.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			if err := late.Release(t.Context()); !errors.Is(err, lockimpl.ErrLost) {
				t.Errorf("release of a forgotten lock: %v, want ErrLost", err)
			}
		})
	}
}

// TestRefusedExtensionEndsWrites: whoever is told by an extension that the lease is lost
// writes no more, by the time that it is told.
func TestRefusedExtensionEndsWrites(t *testing.T) {
	for _, w := range []wrapper{python, asyncio, ruby, node, inGo} {
		t.Run(w.name, func(t *testing.T) {
			w.need(t)
			rdb := redistest.Start(t)
			w.command.Every = 2 * time.Millisecond
			l := open(t, w.command, rdb)
			d := watch(l)
			lease := mustAcquire(t, l, 30*time.Second)
			d.after(t, time.Now())
			if err := rdb.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			if err := lease.Extend(t.Context(), time.Minute); !errors.Is(err, lockimpl.ErrLost) {
				t.Errorf("extension of a forgotten lease: %v, want ErrLost", err)
			}
			told := time.Now()
			time.Sleep(100 * time.Millisecond) // fifty writes
			d.mu.Lock()
			defer d.mu.Unlock()
			if last := d.writes[len(d.writes)-1]; last.Issued.After(told) {
				t.Errorf("a write %v after the extension was refused", last.Issued.Sub(told))
			}
		})
	}
}

// TestStoppedHolderWrites stops a holder beyond its TTL: resumed, it writes on
// while another holds the lock.
func TestStoppedHolderWrites(t *testing.T) {
	for _, w := range []wrapper{python, asyncio, ruby} {
		t.Run(w.name, func(t *testing.T) {
			w.need(t)
			rdb := redistest.Start(t)
			c := w.command
			c.Every = 10 * time.Millisecond
			a, b := open(t, c, rdb), open(t, c, rdb)
			writes := watch(a)
			lease := mustAcquire(t, a, time.Second)
			writes.after(t, time.Time{})
			if _, err := a.(Process).Stop(); err != nil {
				t.Fatal(err)
			}
			next, err := b.(lockimpl.WaitLocker).AcquireWait(t.Context(), "k", time.Minute)
			if err != nil {
				t.Fatalf("take over from a stopped holder: %v", err)
			}
			granted := time.Now()
			if _, err := a.(Process).Cont(); err != nil {
				t.Fatal(err)
			}
			if w := writes.after(t, granted); w.Key != "k" || w.N < 2 {
				t.Errorf("zombie write %+v", w)
			}
			if err := lease.Release(t.Context()); !errors.Is(err, lockimpl.ErrLost) {
				t.Errorf("release by the late holder: %v, want ErrLost", err)
			}
			if err := next.Release(t.Context()); err != nil {
				t.Errorf("release: %v", err)
			}
		})
	}
}

// TestKilledHolder kills a holder: what it had open is unknown, and the lock is
// free after the TTL; or never, taken as redis-py takes locks by default.
func TestKilledHolder(t *testing.T) {
	python.need(t)
	for _, c := range []struct {
		name    string
		args    []string
		expires bool
	}{{"with a timeout", nil, true}, {"by default", []string{"--no-timeout"}, false}} {
		t.Run(c.name, func(t *testing.T) {
			rdb := redistest.Start(t)
			command := python.command
			command.Args = append(command.Args[:1:1], c.args...)
			a := open(t, command, rdb)
			lease := mustAcquire(t, a, time.Minute)
			if _, err := a.(Process).Kill(); err != nil {
				t.Fatal(err)
			}
			if err := lease.Release(t.Context()); !errors.Is(err, ErrGone) {
				t.Errorf("release by the dead: %v, want ErrGone", err)
			}
			if began, ended := lease.(interface{ Took() (_, _ time.Time) }).Took(); !began.IsZero() || !ended.IsZero() {
				t.Errorf("a release that was not answered took from %v to %v", began, ended)
			}
			left := rdb.PTTL(t.Context(), "k").Val()
			if expires := left > 0; expires != c.expires {
				t.Errorf("time left on the key: %v, want an expiry: %t", left, c.expires)
			}
		})
	}
}

// TestUnreachable gives a child a node that nobody listens at.
func TestUnreachable(t *testing.T) {
	python.need(t)
	l, err := python.command.Factory()([]lockimpl.Node{{Addr: "127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := l.Acquire(ctx, "k", time.Second); err == nil || errors.Is(err, lockimpl.ErrHeld) {
		t.Errorf("acquire: %v, want an indefinite error", err)
	}
}

// TestTemplates has the wrappers whose libraries no package here brings read by their
// languages: Node's parser, and Java's compiler, which knows the declarations of
// Redisson's that are used.
func TestTemplates(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text, file string
		reader     []string
	}{
		"redlock on ioredis": {RedlockIORedis, "my_lock.mjs", []string{"node", "--check"}},
		"Redisson":           {Redisson, "MyLock.java", []string{"javac", "-Xlint:all", "-Werror", "-d", dir, "-sourcepath", "testdata/redisson"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(c.reader[0]); err != nil {
				t.Skip(err) // a JDK is much for one file
			}
			path := filepath.Join(dir, c.file)
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if said, err := exec.CommandContext(t.Context(), c.reader[0], append(c.reader[1:], path)...).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, said)
			}
		})
	}
}
