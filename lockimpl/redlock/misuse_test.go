package redlock_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/memnet"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// What cannot be asked for is no outage: nobody should try it again.
func TestArgumentsThatCannotBeAreMisconfigured(t *testing.T) {
	l, err := redlock.NewLocker([]lockimpl.Node{dead(t, "a")}, redlock.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx := t.Context()
	var none context.Context
	for name, ask := range map[string]func() error{
		"empty key":       func() error { _, err := l.Acquire(ctx, "", time.Second); return err },
		"no context":      func() error { _, err := l.AcquireWait(none, "k", time.Second); return err },
		"empty owner":     func() error { _, err := l.AcquireAs(ctx, "", "k", time.Second); return err },
		"no keys":         func() error { _, err := l.AcquireAll(ctx, nil, time.Second); return err },
		"a key twice":     func() error { _, err := l.AcquireAll(ctx, []string{"k", "k"}, time.Second); return err },
		"65 places":       func() error { _, err := l.Semaphore("k", 65); return err },
		"inspect nothing": func() error { _, err := l.Inspect(ctx, ""); return err },
		"watch nothing":   func() error { return l.Watch(ctx, "", time.Second, nil) },
		"watch always":    func() error { return l.Watch(ctx, "k", 0, nil) },
		"bootstrap":       func() error { return l.Bootstrap(none) },
		"raise":           func() error { return l.RaiseMaxTTL(none) },
		"admission":       func() error { _, err := l.Admission(none); return err },
		"force":           func() error { return l.ForceAdmission(none, "a") },
	} {
		if err := ask(); !errors.Is(err, redlock.ErrMisconfigured) || errors.Is(err, redlock.ErrNoQuorum) {
			t.Errorf("%s: %v, want ErrMisconfigured", name, err)
		}
	}
}

// Who holds a key cannot wait for it with a context that ends with the lease.
func TestWaitWithinTheSectionThatHoldsTheKeyIsRefused(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{})
		nothing := func(context.Context, uint64) error { return nil }
		err := l.Do(t.Context(), "k", func(ctx context.Context, _ uint64) error {
			for name, ask := range map[string]func() error{
				"do":     func() error { return l.Do(ctx, "k", nothing) },
				"wait":   func() error { _, err := l.AcquireWait(ctx, "k", time.Second); return err },
				"fair":   func() error { _, err := l.AcquireFair(ctx, "k", time.Second); return err },
				"shared": func() error { _, err := l.AcquireSharedWait(ctx, "k", time.Second); return err },
				"all":    func() error { _, err := l.AcquireAllWait(ctx, []string{"a", "k"}, time.Second); return err },
			} {
				if err := ask(); !errors.Is(err, redlock.ErrMisconfigured) {
					t.Errorf("%s: %v, want ErrMisconfigured", name, err)
				}
			}
			return l.Do(ctx, "other", func(ctx context.Context, _ uint64) error { return l.Do(ctx, "third", nothing) })
		})
		if err != nil {
			t.Errorf("other keys within a section: %v", err)
		}
		reader, err := l.AcquireShared(t.Context(), "read", 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.AcquireSharedWait(reader.Context(), "read", time.Second); err != nil {
			t.Errorf("a reader beside a reader: %v", err)
		}
		ended := get(t, l, "again", 5*time.Second)
		within := context.WithoutCancel(ended.Context())
		if err := ended.Release(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := l.AcquireWait(within, "again", time.Second); err != nil {
			t.Errorf("after the end of the lease: %v", err)
		}
	})
}

// What is asked of a lease after Close cannot be done, which is no outage: it ends by itself.
func TestLeaseAfterCloseIsToldSo(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{})
		lease, short := get(t, l, "k", 5*time.Second), get(t, l, "short", time.Second)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		for name, err := range map[string]error{
			"extend": lease.Extend(t.Context(), 5*time.Second), "release": lease.Release(t.Context()), "again": lease.Release(t.Context()),
		} {
			if !errors.Is(err, redlock.ErrClosed) || errors.Is(err, redlock.ErrUnknown) {
				t.Errorf("%s after Close: %v, want ErrClosed", name, err)
			}
		}
		time.Sleep(time.Second)
		for name, err := range map[string]error{
			"extend": short.Extend(t.Context(), time.Second), "release": short.Release(t.Context()),
		} {
			if !errors.Is(err, redlock.ErrLost) {
				t.Errorf("%s after Close and the end of the lease: %v, want ErrLost", name, err)
			}
		}
	})
}

// A certificate that does not hold, and a server that speaks no TLS, are not mended by waiting.
func TestCertificateThatDoesNotHoldIsMisconfigured(t *testing.T) {
	cert, key, trust := certificate(t)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	serve := func(t *testing.T, accept func(net.Conn)) (addr string) {
		on, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = on.Close() })
		go func() {
			for {
				c, err := on.Accept()
				if err != nil {
					return
				}
				accept(c)
				_ = c.Close()
			}
		}()
		return on.Addr().String()
	}
	shake := func(c net.Conn) { _ = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{pair}}).Handshake() }
	other := trust.Clone()
	other.ServerName = "another.example"
	for name, c := range map[string]struct {
		accept func(net.Conn)
		client *tls.Config
	}{
		"another authority": {shake, &tls.Config{RootCAs: x509.NewCertPool()}},
		"another name":      {shake, other},
		"no TLS": {func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1024))
			_, _ = c.Write([]byte("-ERR unknown command\r\n"))
		}, trust},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt := &redis.Options{Addr: serve(t, c.accept), TLSConfig: c.client, DialerRetries: 1}
			client := redis.NewClient(opt)
			defer client.Close()
			ofClient, err := redlock.New(patient, client)
			if err != nil {
				t.Fatal(err)
			}
			defer ofClient.Close()
			ofOptions, err := redlock.NewFromOptions(patient, opt)
			if err != nil {
				t.Fatal(err)
			}
			defer ofOptions.Close()
			for way, l := range map[string]*redlock.Lock{"client": ofClient, "options": ofOptions} {
				err := within(t, 20*time.Second, func(ctx context.Context) error {
					_, err := l.AcquireWait(ctx, "k", time.Second)
					return err
				})
				if !errors.Is(err, redlock.ErrMisconfigured) {
					t.Fatalf("%s: %v, want ErrMisconfigured", way, err)
				}
			}
		})
	}
}

// Times that no sum can be made of are refused: a quarantine that overflows is over at once.
func TestTimesBeyondReckoningAreRefused(t *testing.T) {
	for name, cfg := range map[string]redlock.Config{
		"max ttl":      {MaxTTL: math.MaxInt64},
		"node timeout": {NodeTimeout: math.MaxInt64},
		"retry":        {RetryMax: math.MaxInt64},
		"patience":     {Patience: math.MaxInt64},
		"two years":    {MaxTTL: 2 * 365 * 24 * time.Hour},
	} {
		if _, err := redlock.NewLocker([]lockimpl.Node{dead(t, "a")}, cfg); !errors.Is(err, redlock.ErrMisconfigured) {
			t.Errorf("%s: %v, want ErrMisconfigured", name, err)
		}
	}
	if l, err := redlock.NewLocker([]lockimpl.Node{dead(t, "a")}, redlock.Config{MaxTTL: 365 * 24 * time.Hour}); err != nil {
		t.Errorf("a year: %v", err)
	} else if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// Watch ends with the lock, at once, and does not begin after it.
func TestWatchEndsWithTheLock(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{})
		done := make(chan error, 1)
		watch := func() { done <- l.Watch(context.Background(), "k", time.Hour, func(redlock.Holder, bool) {}) }
		go watch()
		time.Sleep(time.Second)
		began := time.Now()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		for i := range 2 {
			if i == 1 {
				watch()
			}
			if err := <-done; !errors.Is(err, redlock.ErrClosed) {
				t.Errorf("watch: %v, want ErrClosed", err)
			}
			if took := time.Since(began); took > 100*time.Millisecond {
				t.Errorf("watch ended %v after the lock", took)
			}
		}
	})
}

// A reader whose lease has ended holds nothing, though its node has yet to forget it.
func TestInspectTellsOfNoReaderWhoseLeaseHasEnded(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		reads := func(name string, ttl time.Duration) *redlock.Lock {
			l, _ := api(w, redlock.Config{Name: name})
			connect(t, l)
			if _, err := l.AcquireShared(t.Context(), "k", ttl); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // until every node has been asked
			return l
		}
		reads("short", time.Second)
		l := reads("long", 9*time.Second)
		time.Sleep(2 * time.Second)
		in, err := l.Inspect(t.Context(), "k")
		if err != nil || len(in.Holders) != 1 || in.Holders[0].Name != "long" || in.Holders[0].Nodes != 3 {
			t.Errorf("%+v, %v, want the one whose lease goes on", in, err)
		}
	})
}

// Who watches a key is told that nobody holds it any more when fewer nodes than a quorum know of the
// holder that was told last.
func TestWatchTellsOfAHolderThatNodesHaveForgotten(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{})
		connect(t, l)
		get(t, l, "k", 9*time.Second)
		time.Sleep(50 * time.Millisecond) // until every node has been asked
		var told []bool
		done := make(chan error, 1)
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			done <- l.Watch(ctx, "k", 10*time.Millisecond, func(_ redlock.Holder, held bool) { told = append(told, held) })
		}()
		time.Sleep(time.Second)
		w.Forget(1)
		w.Forget(2)
		time.Sleep(time.Second)
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) || !slices.Equal(told, []bool{true, false}) {
			t.Errorf("told %v, want that it is held, and that it is not: %v", told, err)
		}
	})
}

// Who watches a key that several read is told of one of them, and of another when that one has
// gone: not at each look of whichever the nodes happen to tell first.
func TestWatchTellsOfOneReaderOnce(t *testing.T) {
	for _, n := range []int{1, 3} {
		world.Run(t, n, func(t *testing.T, w *world.World) {
			l, _ := api(w, redlock.Config{})
			read := map[string]*redlock.Lease{}
			for _, name := range []string{"a", "b"} {
				reader, _ := api(w, redlock.Config{Name: name})
				connect(t, reader)
				lease, err := reader.AcquireShared(t.Context(), "k", 9*time.Second)
				if err != nil {
					t.Fatal(err)
				}
				read[name] = lease
				time.Sleep(50 * time.Millisecond) // until every node has been asked
			}
			var told []string
			done := make(chan error, 1)
			ctx, stop := context.WithCancel(t.Context())
			go func() {
				done <- l.Watch(ctx, "k", 10*time.Millisecond, func(h redlock.Holder, held bool) { told = append(told, h.Name) })
			}()
			time.Sleep(time.Second)
			synctest.Wait() // until nobody writes to told
			if len(told) != 1 {
				t.Fatalf("%d nodes: told of %q in a second, in which nothing changed", n, told)
			}
			if err := read[told[0]].Release(t.Context()); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
			stop()
			<-done
			if len(told) != 2 || told[0] == told[1] {
				t.Errorf("%d nodes: told of %q, want one reader after the other", n, told)
			}
		})
	}
}

// Of more readers than a node tells, every node tells the same, in whatever order they came to it:
// otherwise none of them would seem to have a quorum.
func TestManyReadersAreHolders(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		const readers = 9
		l, _ := api(w, redlock.Config{})
		connect(t, l)
		clients := make([]*redlock.Lock, readers)
		for i := range clients {
			var links []*memnet.Link
			clients[i], links = api(w, redlock.Config{})
			connect(t, clients[i])
			for j, link := range links {
				link.Up.Delay(time.Duration((i+3*j)%readers+1) * time.Millisecond)
			}
		}
		var all sync.WaitGroup
		for _, c := range clients {
			all.Go(func() {
				if _, err := c.AcquireShared(t.Context(), "k", 5*time.Second); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		time.Sleep(50 * time.Millisecond) // until every node has been asked
		in, err := l.Inspect(t.Context(), "k")
		if h, held := l.Held(in); err != nil || !held || !h.Shared || h.Nodes != 3 {
			t.Errorf("%d readers: held %v by %+v of %+v, %v", readers, held, h, in, err)
		}
	})
}
