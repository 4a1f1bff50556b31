// Package world is a small world for tests: embedded servers and clients in
// virtual time, with a link of its own from every client to every server.
package world

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/memnet"
	"locktorture/lockimpl/redlock"
)

// A Lock is a client of the full lock, or of a copy of it with a planted bug.
type Lock interface {
	lockimpl.Locker
	lockimpl.WaitLocker
	lockimpl.SharedLocker
	lockimpl.FairLocker
	lockimpl.ReentrantLocker
	lockimpl.MultiLocker
	lockimpl.Bootstrapper
	lockimpl.KeyLister
	AcquireSharedWait(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error)
	AcquireAllWait(ctx context.Context, keys []string, ttl time.Duration) ([]lockimpl.Lease, error)
}

// A World is a set of servers and the links to them.
type World struct {
	t       *testing.T
	servers []*server
	all     []*server        // with those that were replaced
	links   [][]*memnet.Link // by client, by server
}

// Run runs test over n servers that have been admitted.
func Run(t *testing.T, n int, test func(t *testing.T, w *World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &World{t: t}
		t.Cleanup(func() { // after the clients, which would dial again
			for _, s := range w.all {
				s.redis.Hangup()
				s.redis.Close()
			}
		})
		for range n {
			w.servers = append(w.servers, w.newServer())
		}
		boot, _ := w.Client(redlock.NewFactory(redlock.Config{FirstTime: true}))
		if err := boot.Bootstrap(t.Context()); err != nil {
			t.Fatal(err)
		}
		test(t, w)
	})
}

func (w *World) newServer() *server {
	s := newServer()
	w.all = append(w.all, s)
	return s
}

// Client returns a client of every server, and its links.
func (w *World) Client(factory lockimpl.Factory) (Lock, []*memnet.Link) {
	w.t.Helper()
	var nodes []lockimpl.Node
	var links []*memnet.Link
	for i, s := range w.servers {
		link := memnet.New(s.serve)
		links = append(links, link)
		nodes = append(nodes, lockimpl.Node{Name: fmt.Sprintf("n%d", i+1), Dial: link.Dial})
	}
	l, err := factory(nodes)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		for _, link := range links {
			link.Up.Free()
			link.Down.Free()
		}
		if err := l.Close(); err != nil {
			w.t.Error(err)
		}
	})
	w.links = append(w.links, links)
	return l.(Lock), links
}

// Reach returns a client that reaches only the given servers, 1 being the
// first.
func (w *World) Reach(factory lockimpl.Factory, servers ...int) Lock {
	w.t.Helper()
	l, links := w.Client(factory)
	for i, link := range links {
		link.Refuse(true)
		for _, s := range servers {
			if s == i+1 {
				link.Refuse(false)
			}
		}
	}
	return l
}

// Forget replaces a server by an empty one.
func (w *World) Forget(server int) {
	i := server - 1
	w.servers[i] = w.newServer()
	for _, links := range w.links {
		links[i].Serve(w.servers[i].serve)
	}
	synctest.Wait() // until the clients have noticed
}

// Restart lets a server go on as another process that has all its data but the
// leases on key, as after a restart from an older snapshot.
func (w *World) Restart(l Lock, server int, key string) {
	w.stale(l, server, key).restart()
	for _, links := range w.links {
		links[server-1].Lose()
	}
	synctest.Wait()
}

// Demote has a server refuse to write, as a replica does, until Promote.
func (w *World) Demote(server int) { w.servers[server-1].demoted.Store(true) }

// Promote lets a server go on as one that was demoted, has loaded another's
// data, in which the leases on key are not, and has been promoted again. Its
// connections stay, but for those on which a request is held up: the lock does
// not promise to notice what was sent before and arrives after.
func (w *World) Promote(l Lock, server int, key string) {
	for _, links := range w.links {
		if links[server-1].Late() {
			links[server-1].Lose()
		}
	}
	w.stale(l, server, key).promote()
}

// Size returns the number of servers.
func (w *World) Size() int { return len(w.servers) }

// LoseFences deletes what a server stores to make later tokens higher, as an
// eviction may.
func (w *World) LoseFences(server int) {
	r := w.servers[server-1].redis
	for _, key := range r.Keys() {
		if strings.HasPrefix(key, "lock:fence:") {
			r.Delete(key)
		}
	}
}

func (w *World) stale(l Lock, server int, key string) *server {
	s := w.servers[server-1]
	s.redis.Delete(l.LeaseKeys(key)...)
	return s
}

// StopClock lets a server's clock jump ahead by d and stand still then.
func (w *World) StopClock(server int, d time.Duration) {
	stopped := time.Now().Add(d)
	w.servers[server-1].stopped.Store(&stopped)
}

// Forward lets what a server keeps expire as if its clock had been moved; what scripts read of
// the clock stays.
func (w *World) Forward(server int, d time.Duration) { w.servers[server-1].redis.Elapse(d) }

// Fail has a server answer every command with an error, until it is told to fail with "".
func (w *World) Fail(server int, message string) { w.servers[server-1].failure.Store(&message) }

// Deny takes from the users of every server the right to call a command.
func (w *World) Deny(command string) {
	for _, s := range w.servers {
		s.refused.Store(&command)
	}
}

// Commands returns how many commands of clients a server has been asked.
func (w *World) Commands(server int) int { return int(w.servers[server-1].commands.Load()) }

// ForgetScripts has a server forget every script but those of which it is given the text.
func (w *World) ForgetScripts(server int, but ...string) {
	w.t.Helper()
	s := w.servers[server-1]
	ask := func(args ...string) {
		if reply := s.do(args...); strings.HasPrefix(reply, "-") {
			w.t.Fatalf("server %d: %s", server, reply)
		}
	}
	ask("SCRIPT", "FLUSH")
	for _, text := range but {
		ask("SCRIPT", "LOAD", text)
	}
}

// LeaseKeys returns the servers that hold a lease on key.
func (w *World) LeaseKeys(l Lock, key string) (on []int) {
	for i, s := range w.servers {
		for _, k := range l.LeaseKeys(key) {
			if left, _ := s.redis.Look(k); left != -2 {
				on = append(on, i+1)
			}
		}
	}
	return on
}

// Acquire takes key, trying for a second.
func (w *World) Acquire(l Lock, key string, ttl time.Duration) (lease lockimpl.Lease, err error) {
	for range 100 {
		if lease, err = l.Acquire(w.t.Context(), key, ttl); err == nil {
			return lease, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, err
}

// Take is Acquire for a lock that must be granted, by stragglers as well.
func (w *World) Take(l Lock, key string, ttl time.Duration) lockimpl.Lease {
	w.t.Helper()
	lease, err := w.Acquire(l, key, ttl)
	if err != nil {
		w.t.Fatalf("acquire %s: %v", key, err)
	}
	time.Sleep(5 * time.Millisecond) // until every node has been asked
	synctest.Wait()
	return lease
}

// Release gives a lease back that must be there.
func (w *World) Release(lease lockimpl.Lease) {
	w.t.Helper()
	if err := lease.Release(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// IsHeld reports whether err says that somebody else has the lock, or that no
// quorum of nodes would give it.
func IsHeld(err error) bool {
	return errors.Is(err, lockimpl.ErrHeld) || errors.Is(err, lockimpl.ErrNoQuorum)
}
