package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/redistest"
	"locktorture/lockimpl/redlock"
)

// exampleNodes starts a new set of servers and sets it up.
func exampleNodes(n int) (nodes []lockimpl.Node, stop func()) {
	nodes, stop = emptyNodes(n)
	lock, err := redlock.New(nodes, redlock.Config{FirstTime: true})
	if err != nil {
		panic(err)
	}
	defer lock.Close()
	if err := lock.Bootstrap(context.Background()); err != nil {
		panic(err)
	}
	return nodes, stop
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

func ExampleNew() {
	nodes, stop := exampleNodes(5)
	defer stop()
	ctx := context.Background()

	lock, err := redlock.New(nodes, redlock.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lock.Close()
	if err := lock.Bootstrap(ctx); err != nil { // once in the life of the nodes
		fmt.Println(err)
		return
	}

	lease, err := lock.Acquire(ctx, "invoice-17", 5*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = lock.Acquire(ctx, "invoice-17", 5*time.Second)
	fmt.Println("held by another:", errors.Is(err, lockimpl.ErrHeld))
	fmt.Println("has a token:", lease.Fence() > 0)
	fmt.Println("released:", lease.Release(ctx) == nil)
	// Output:
	// held by another: true
	// has a token: true
	// released: true
}

// A new set of nodes is set up once, by a program of its own. Services that use
// the nodes do not call Bootstrap: a node that comes back empty is let in when
// the leases that it may have granted have ended.
func ExampleLock_Bootstrap() {
	nodes, stop := emptyNodes(3)
	defer stop()
	ctx := context.Background()

	setup, err := redlock.New(nodes, redlock.Config{FirstTime: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer setup.Close()
	fmt.Println(setup.Bootstrap(ctx))
	// Output: <nil>
}

func ExampleLock_AcquireWait() {
	nodes, stop := exampleNodes(1)
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	lock, err := redlock.New(nodes, redlock.Config{})
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
	lease.(lockimpl.Renewer).Renew(nil) // until it is released or lost
	select {
	case <-lease.(lockimpl.LostNotifier).Lost():
		fmt.Println("stop: somebody else may hold it")
	default:
		fmt.Println("work, and pass the token to the store")
	}
	fmt.Println("released:", lease.Release(ctx) == nil)
	// Output:
	// work, and pass the token to the store
	// released: true
}
