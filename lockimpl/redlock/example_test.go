package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/redistest"
	"locktorture/lockimpl/redlock"
)

// exampleServers starts a new set of servers, sets it up, and returns clients.
func exampleServers(n int) (clients []redis.UniversalClient, stop func()) {
	nodes, stopServers := emptyNodes(n)
	for _, node := range nodes {
		clients = append(clients, redis.NewClient(&redis.Options{Addr: node.Addr}))
	}
	setup, err := redlock.New(redlock.Config{FirstTime: true}, clients...)
	if err != nil {
		panic(err)
	}
	defer setup.Close()
	if err := setup.Bootstrap(context.Background()); err != nil {
		panic(err)
	}
	return clients, func() {
		for _, c := range clients {
			_ = c.Close()
		}
		stopServers()
	}
}

func emptyNodes(n int) (nodes []lockimpl.Node, stop func()) {
	var all []*miniredis.Miniredis
	for range n {
		m := miniredis.NewMiniRedis()
		if err := m.Start(); err != nil {
			panic(err)
		}
		redistest.Identify(m)
		all = append(all, m)
		nodes = append(nodes, lockimpl.Node{Addr: m.Addr()})
	}
	return nodes, func() {
		for _, m := range all {
			m.Close()
		}
	}
}

// A lock over three masters. The clients are those that the program has anyway.
func ExampleNew() {
	clients, stop := exampleServers(3)
	defer stop()
	ctx := context.Background()

	lock, err := redlock.New(redlock.Config{Name: "billing-1"}, clients...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lock.Close()

	lease, err := lock.Acquire(ctx, "invoice-17", 5*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = lock.Acquire(ctx, "invoice-17", 5*time.Second)
	fmt.Println("held by another:", errors.Is(err, redlock.ErrHeld))
	fmt.Println("has a token:", lease.Fence() > 0)
	fmt.Println("released:", lease.Release(ctx) == nil)
	// Output:
	// held by another: true
	// has a token: true
	// released: true
}

// A table accepts a row only from who has the highest token so far.
type table struct{ highest uint64 }

func (t *table) write(_ context.Context, fence uint64, row string) error {
	if fence < t.highest {
		return errors.New("a later holder has written")
	}
	t.highest = fence
	fmt.Println("wrote", row)
	return nil
}

// Do waits for the key, renews the lease while the function runs, and gives it
// back. The context of the function ends when the lease is lost.
func ExampleLock_Do() {
	clients, stop := exampleServers(1)
	defer stop()
	lock, err := redlock.New(redlock.Config{}, clients...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lock.Close()
	invoices := &table{}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // for the wait and the work
	defer cancel()
	err = lock.Do(ctx, "invoice-17", func(ctx context.Context, fence uint64) error {
		return invoices.write(ctx, fence, "invoice 17")
	})
	switch {
	case err == nil:
		fmt.Println("done")
	case errors.Is(err, redlock.ErrHeld):
		fmt.Println("somebody else is at it")
	case errors.Is(err, redlock.ErrNoQuorum), errors.Is(err, redlock.ErrUnknown):
		fmt.Println("the servers do not answer")
	case errors.Is(err, redlock.ErrLost):
		fmt.Println("somebody else may have been at it too")
	default:
		fmt.Println(err)
	}
	// Output:
	// wrote invoice 17
	// done
}

// A new set of nodes is set up once, by a program of its own. Services that use
// the nodes do not call Bootstrap: a node that comes back empty is let in when
// the leases that it may have granted have ended.
func ExampleLock_Bootstrap() {
	nodes, stop := emptyNodes(3)
	defer stop()
	var urls []string
	for _, n := range nodes {
		urls = append(urls, "redis://"+n.Addr)
	}
	setup, err := redlock.NewFromURLs(redlock.Config{FirstTime: true}, urls...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer setup.Close()
	fmt.Println(setup.Bootstrap(context.Background()))
	// Output: <nil>
}

func ExampleLock_AcquireWait() {
	clients, stop := exampleServers(1)
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	lock, err := redlock.New(redlock.Config{}, clients...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lock.Close()

	lease, err := lock.AcquireWait(ctx, "report", 5*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	lease.Renew(ctx) // until it is released or lost, or ctx ends
	select {
	case <-lease.Lost():
		fmt.Println("stop:", lease.Err())
	default:
		fmt.Println("work, and pass the token to the store")
	}
	fmt.Println("released:", lease.Release(ctx) == nil)
	// Output:
	// work, and pass the token to the store
	// released: true
}

// One session keeps the leases on all shards of a worker.
func ExampleLock_NewSession() {
	clients, stop := exampleServers(1)
	defer stop()
	ctx := context.Background()
	lock, err := redlock.New(redlock.Config{}, clients...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lock.Close()
	session, err := lock.NewSession()
	if err != nil {
		fmt.Println(err)
		return
	}
	for shard := range 3 {
		if _, err := session.Acquire(ctx, fmt.Sprintf("shard-%d", shard)); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(len(session.Leases()), "shards")
	fmt.Println(session.Close(ctx))
	// Output:
	// 3 shards
	// <nil>
}

// Two downloads at a time, among all processes.
func ExampleLock_Semaphore() {
	clients, stop := exampleServers(1)
	defer stop()
	ctx := context.Background()
	lock, err := redlock.New(redlock.Config{}, clients...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lock.Close()
	downloads, err := lock.Semaphore("downloads", 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		if _, err := downloads.Acquire(ctx); errors.Is(err, redlock.ErrHeld) {
			fmt.Println("full")
		} else if err == nil {
			fmt.Println("a place")
		}
	}
	// Output:
	// a place
	// a place
	// full
}

// A leader election: who leads runs in Do, and everybody can see who that is.
func ExampleLock_Watch() {
	clients, stop := exampleServers(1)
	defer stop()
	candidate, err := redlock.New(redlock.Config{Name: "host-1"}, clients...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer candidate.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = candidate.Do(ctx, "leader", func(ctx context.Context, _ uint64) error {
		watching, enough := context.WithCancel(ctx)
		err := candidate.Watch(watching, "leader", time.Second, func(h redlock.Holder, held bool) {
			fmt.Println(h.Name, "leads:", held)
			enough()
		})
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: host-1 leads: true
}
