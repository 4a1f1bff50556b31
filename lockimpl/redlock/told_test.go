package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/world"
	"locktorture/lockimpl/redlock"
)

// Whatever is asked of nodes that refuse connections: the error is one line,
// says what each of them said, and wraps it.
func TestErrorsOfSeveralNodesAreOneLine(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{TTL: time.Minute / 10})
		s, err := l.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		lease, other := get(t, l, "k", 5*time.Second), get(t, l, "l", 5*time.Second)
		if _, err := s.Acquire(t.Context(), "m"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // until every node has been asked
		for _, link := range links {
			link.Refuse(true)
			link.Cut()
		}
		for name, ask := range map[string]func() error{
			"acquire":   func() error { _, err := l.Acquire(t.Context(), "a", time.Second); return err },
			"shared":    func() error { _, err := l.AcquireShared(t.Context(), "a", time.Second); return err },
			"several":   func() error { _, err := l.AcquireAll(t.Context(), []string{"a", "b"}, time.Second); return err },
			"extend":    func() error { return lease.Extend(t.Context(), 5*time.Second) },
			"release":   func() error { return other.Release(t.Context()) },
			"inspect":   func() error { _, err := l.Inspect(t.Context(), "k"); return err },
			"raise":     func() error { return l.RaiseMaxTTL(t.Context()) },
			"bootstrap": func() error { return l.Bootstrap(t.Context()) },
			"session":   func() error { return s.Close(context.WithoutCancel(t.Context())) },
		} {
			err := ask()
			var dial *net.OpError
			if err == nil || strings.Contains(err.Error(), "\n") || !errors.As(err, &dial) {
				t.Errorf("%s: %v", name, err)
				continue
			}
			named := 0
			for i := range links {
				named += strings.Count(err.Error(), fmt.Sprintf("node n%d: ", i+1))
			}
			if named < 2 { // where two have refused nobody waits for the third
				t.Errorf("%s: names %d nodes: %v", name, named, err)
			}
		}
		for _, link := range links {
			link.Refuse(false)
		}
	})
}

// go-redis dials several times before it tells an error. A wait that ends before
// that tells what a dial says all the same.
func TestDialErrorIsToldBeforeTheClientGivesUp(t *testing.T) {
	refused := errors.New("connection refused, said the test")
	c := redis.NewClient(&redis.Options{
		Addr: "nowhere:1", DialerRetries: 2, DialerRetryTimeout: 500 * time.Millisecond,
		Dialer: func(context.Context, string, string) (net.Conn, error) { return nil, refused },
	})
	defer c.Close()
	l, err := redlock.New(redlock.Config{NodeTimeout: time.Second}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, ask := range map[string]func(ctx context.Context) error{
		"acquire": func(ctx context.Context) error { _, err := l.Acquire(ctx, "k", 10*time.Second); return err },
		"wait":    func(ctx context.Context) error { _, err := l.AcquireWait(ctx, "k", 10*time.Second); return err },
		"inspect": func(ctx context.Context) error { _, err := l.Inspect(ctx, "k"); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		err := ask(ctx)
		cancel()
		if !errors.Is(err, refused) || errors.Is(err, redlock.ErrHeld) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of 1 and 2 ms drift leaves nothing: such leases are refused before anything is
// sent, and by their own error.
func TestTTLsOfWhichDriftLeavesNothingAreRefused(t *testing.T) {
	const least = 3 * time.Millisecond
	if least <= redlock.Drift(least) || least-time.Millisecond > redlock.Drift(least-time.Millisecond) {
		t.Fatalf("%v is not the smallest that works", least)
	}
	refused := func(name string, ttl time.Duration, err error) {
		t.Helper()
		if !errors.Is(err, redlock.ErrMisconfigured) || errors.Is(err, redlock.ErrNoQuorum) ||
			!strings.Contains(err.Error(), ttl.String()) || !strings.Contains(err.Error(), least.String()) {
			t.Errorf("%s for %v: %v", name, ttl, err)
		}
	}
	for _, ttl := range []time.Duration{time.Millisecond, 2 * time.Millisecond, least - 1} {
		for _, cfg := range []redlock.Config{{TTL: ttl}, {MaxTTL: ttl}} {
			_, err := redlock.NewLocker([]lockimpl.Node{dead(t, "a")}, cfg)
			refused(fmt.Sprintf("%+v", cfg), ttl, err)
		}
		l, err := redlock.NewLocker([]lockimpl.Node{dead(t, "a")}, redlock.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ctx := t.Context()
		for name, ask := range map[string]func() error{
			"acquire":     func() error { _, err := l.Acquire(ctx, "k", ttl); return err },
			"wait":        func() error { _, err := l.AcquireWait(ctx, "k", ttl); return err },
			"fair":        func() error { _, err := l.AcquireFair(ctx, "k", ttl); return err },
			"shared":      func() error { _, err := l.AcquireShared(ctx, "k", ttl); return err },
			"shared wait": func() error { _, err := l.AcquireSharedWait(ctx, "k", ttl); return err },
			"as":          func() error { _, err := l.AcquireAs(ctx, "o", "k", ttl); return err },
			"all":         func() error { _, err := l.AcquireAll(ctx, []string{"k", "l"}, ttl); return err },
			"all wait":    func() error { _, err := l.AcquireAllWait(ctx, []string{"k", "l"}, ttl); return err },
		} {
			refused(name, ttl, ask())
		}
	}
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, _ := w.Client(full)
		if _, err := l.Acquire(t.Context(), "shortest", least); err != nil {
			t.Errorf("%v: %v", least, err)
		}
		lease, err := l.AcquireAs(t.Context(), "o", "k", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		refused("extend", 2*time.Millisecond, lease.Extend(t.Context(), 2*time.Millisecond))
		_, err = l.AcquireAs(t.Context(), "o", "k", 2*time.Millisecond)
		refused("again", 2*time.Millisecond, err)
	})
}

// A lease that was given back is not one that was lost, and yet nobody may rely on it.
func TestExtendBehindAReleaseSaysSo(t *testing.T) {
	world.Run(t, 3, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{})
		given, lost := get(t, l, "given", time.Second), get(t, l, "lost", time.Second)
		if err := given.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		err := given.Extend(t.Context(), time.Second)
		if !errors.Is(err, redlock.ErrReleased) || !errors.Is(err, redlock.ErrLost) || strings.Contains(err.Error(), "lost") {
			t.Errorf("given back: %v", err)
		}
		if err := lost.Extend(t.Context(), time.Second); !errors.Is(err, redlock.ErrLost) || errors.Is(err, redlock.ErrReleased) || !strings.Contains(err.Error(), "it ran out") {
			t.Errorf("ran out: %v", err)
		}
	})
}

// However long a key is, an error is one short line that says so.
func TestErrorsShowTheBeginningOfALongKey(t *testing.T) {
	long := strings.Repeat("käse\n", 1<<13)
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{})
		held := get(t, l, long, time.Second)
		semaphore, err := l.Semaphore(long, 65)
		if err == nil {
			t.Error(semaphore)
		}
		told := map[string]error{"semaphore": err}
		_, told["held"] = l.Acquire(t.Context(), long, time.Second)
		_, told["all"] = l.AcquireAll(t.Context(), []string{long, "b"}, time.Second)
		_, told["as"] = l.AcquireAs(t.Context(), "me", long, time.Second)
		_, told["under"] = l.AcquireWait(held.Context(), long, time.Second)
		soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, told["wait"] = l.AcquireWait(soon, long, time.Second)
		_, told["not asked"] = l.AcquireWait(soon, long, time.Second)
		links[0].Refuse(true)
		links[0].Lose()
		_, told["down"] = l.Acquire(t.Context(), long, time.Second)
		_, told["inspect"] = l.Inspect(t.Context(), long)
		told["extend"] = held.Extend(t.Context(), time.Second)
		told["release"] = held.Release(t.Context())
		told["extend after"] = held.Extend(t.Context(), time.Second)
		told["lost"] = held.Release(t.Context())
		for name, err := range told {
			if err == nil {
				t.Errorf("%s: no error", name)
			} else if text := err.Error(); len(text) > 500 || strings.Contains(text, "\n") || !strings.Contains(text, "käse") || !strings.Contains(text, "bytes)") {
				t.Errorf("%s, %d bytes: %.600s", name, len(text), text)
			}
		}
	})
}

// A server that turns a client away says why, and ends the connection before that is read.
func TestServerThatTurnsClientsAwayIsToldAsOne(t *testing.T) {
	full, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	go func() { // until it is closed
		for c, err := full.Accept(); err == nil; c, err = full.Accept() {
			_, _ = c.Write([]byte("-ERR max number of clients reached\r\n"))
			_ = c.Close()
		}
	}()
	l, err := redlock.NewFromOptions(redlock.Config{NodeTimeout: 5 * time.Second}, &redis.Options{Addr: full.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 20 { // what was said is read, or not
		_, err := l.Acquire(t.Context(), "k", time.Second)
		if !errors.Is(err, redlock.ErrNoQuorum) || errors.Is(err, redlock.ErrMisconfigured) || !strings.Contains(err.Error(), "clients") {
			t.Errorf("a server that closes each connection: %v", err)
		}
		time.Sleep(20 * time.Millisecond) // a failure is remembered for a moment
	}
}

// A release that is sent twice and finds nothing has an unknown outcome, with the reason.
func TestReleaseThatMayHaveBeenHeededSaysSo(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, links := api(w, redlock.Config{})
		lease := get(t, l, "k", time.Second)
		links[0].Down.Hold()
		released := make(chan error)
		go func() { released <- lease.Release(t.Context()) }()
		time.Sleep(50 * time.Millisecond) // until the server has heeded it
		links[0].Lose()
		links[0].Down.Free()
		if err := <-released; !errors.Is(err, redlock.ErrUnknown) || !strings.Contains(err.Error(), "sent the release twice") {
			t.Errorf("the connection broke before the server's answer: %v", err)
		}
	})
}

// For how long a node sits out its quarantine is told as soon as it is known.
func TestQuarantineIsToldWithItsEnd(t *testing.T) {
	world.Run(t, 1, func(t *testing.T, w *world.World) {
		l, _ := api(w, redlock.Config{MaxTTL: 5 * time.Second})
		get(t, l, "k", time.Second)
		w.Forget(1)
		for _, left := range []string{"", ", for 5.1s more", ", for 2.1s more"} { // of a MaxTTL and a little
			_, err := l.Acquire(t.Context(), "k", time.Second)
			if !errors.Is(err, redlock.ErrNotAdmitted) || !strings.HasSuffix(err.Error(), left) {
				t.Errorf("%v, want its end to be %q", err, left)
			}
			if time.Sleep(10 * time.Millisecond); left != "" {
				time.Sleep(3 * time.Second)
			}
		}
		get(t, l, "k", time.Second)
	})
}
