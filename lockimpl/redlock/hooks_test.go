package redlock_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl/redlock"
)

// meddler is a hook that does with pipelines what it likes.
type meddler func(next redis.ProcessPipelineHook, ctx context.Context, cmds []redis.Cmder) error

func (meddler) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (meddler) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (m meddler) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return m(next, ctx, cmds) }
}

// lossy is a connection that ends where a reply should come.
type lossy struct {
	net.Conn
	on *atomic.Bool
}

// Read implements net.Conn.
func (c lossy) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.on.Load() {
		_ = c.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// Whatever a hook makes of the errors of a pipeline: what was sent and not answered may have
// been granted, and is given back.
func TestHookThatHidesAnError(t *testing.T) {
	for name, meddle := range map[string]meddler{
		"of the pipeline": func(next redis.ProcessPipelineHook, ctx context.Context, cmds []redis.Cmder) error {
			_ = next(ctx, cmds)
			return nil
		},
		"of the commands": func(next redis.ProcessPipelineHook, ctx context.Context, cmds []redis.Cmder) error {
			_ = next(ctx, cmds)
			for _, cmd := range cmds {
				cmd.SetErr(nil)
			}
			return nil
		},
		"and makes up another": func(next redis.ProcessPipelineHook, ctx context.Context, cmds []redis.Cmder) error {
			var said redis.Error
			if err := next(ctx, cmds); err == nil || errors.As(err, &said) {
				return err // a server's own word, such as that it knows no such section of INFO
			}
			for _, cmd := range cmds {
				cmd.SetErr(redis.Nil)
			}
			return redis.Nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := embedded(t, 1)[0]
			bootstrapped(t, nodesAt([]string{m.Addr()}), patient)
			var on atomic.Bool
			c := redis.NewClient(&redis.Options{Addr: m.Addr(), Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, addr)
				return lossy{c, &on}, err
			}})
			defer c.Close()
			c.AddHook(meddle)
			l, err := redlock.New(patient, c)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if err := get(t, l, "warm", 10*time.Second).Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			on.Store(true)
			_, err = l.Acquire(t.Context(), "k", 30*time.Second)
			if err == nil || errors.Is(err, redlock.ErrHeld) {
				t.Errorf("no reply has come: %v", err)
			}
			on.Store(false)
			awaitBy(t, began.Add(25*time.Second), "the key, which lasts 30 s, is given back", func() bool { return !m.Exists("lock:{k}:l") })
		})
	}
}

// A hook that sends nothing grants nothing and refuses nothing; one that sends everything
// twice does not make a release look like a loss.
func TestHookThatSendsNothingOrTwice(t *testing.T) {
	m := embedded(t, 1)[0]
	bootstrapped(t, nodesAt([]string{m.Addr()}), patient)
	var silent atomic.Bool
	c := redis.NewClient(&redis.Options{Addr: m.Addr()})
	defer c.Close()
	c.AddHook(meddler(func(next redis.ProcessPipelineHook, ctx context.Context, cmds []redis.Cmder) error {
		if silent.Load() {
			return nil
		}
		_ = next(ctx, cmds)
		return next(ctx, cmds)
	}))
	l, err := redlock.New(patient, c)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := get(t, l, "k", 10*time.Second).Release(t.Context()); err != nil {
		t.Errorf("released, sent twice: %v", err)
	}
	lease := get(t, l, "k", 10*time.Second)
	silent.Store(true)
	if _, err := l.Acquire(t.Context(), "k", 10*time.Second); err == nil || errors.Is(err, redlock.ErrHeld) {
		t.Errorf("acquire that was not sent: %v", err)
	}
	if err := lease.Extend(t.Context(), 10*time.Second); err == nil || errors.Is(err, redlock.ErrLost) {
		t.Errorf("extension that was not sent: %v", err)
	}
	silent.Store(false)
	if err := lease.Release(t.Context()); errors.Is(err, redlock.ErrLost) {
		t.Error(err)
	}
	await(t, "the key has been given back", func() bool { return !m.Exists("lock:{k}:l") })
}

// Clients of one address, as all that Sentinel leads have, are nodes of different names.
func TestNodesOfOneAddressHaveTheirOwnNames(t *testing.T) {
	servers := embedded(t, 3)
	var clients []redis.UniversalClient
	for _, m := range servers {
		c := redis.NewClient(&redis.Options{Addr: "FailoverClient", Dialer: dialTo(m.Addr())})
		defer c.Close()
		clients = append(clients, c)
	}
	l, err := redlock.New(setUp(patient), clients...)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Bootstrap(t.Context()); err != nil {
		t.Fatal(err)
	}
	states := func() []redlock.NodeStatus {
		all, err := l.Admission(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	names := map[string]bool{}
	for _, n := range states() {
		names[n.Node] = true
	}
	if len(names) != 3 {
		t.Fatalf("names %v", names)
	}
	for i := range servers {
		servers[i].FlushAll()
		status := states()[i]
		if status.State != redlock.Quarantined {
			t.Errorf("%s, which lost everything, is %s", status.Node, status.State)
		}
		if err := l.ForceAdmission(t.Context(), status.Node); err != nil {
			t.Error(err)
		}
		for _, n := range states() {
			if n.State != redlock.Admitted {
				t.Errorf("after the admission of %s, %s is %s", status.Node, n.Node, n.State)
			}
		}
	}
}
