package node

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locktorture/lockimpl/internal/memnet"
	"locktorture/lockimpl/internal/redistest"
	"locktorture/lockimpl/redlock/internal/script"
)

// deaf is a connection whose deadlines do nothing.
type deaf struct{ net.Conn }

func (deaf) SetDeadline(time.Time) error      { return nil }
func (deaf) SetReadDeadline(time.Time) error  { return nil }
func (deaf) SetWriteDeadline(time.Time) error { return nil }

// overMemory runs test in virtual time with a node that has just answered.
func overMemory(t *testing.T, limit time.Duration, test func(t *testing.T, n *Node, link *memnet.Link, dials *atomic.Int64)) {
	synctest.Test(t, func(t *testing.T) {
		server := miniredis.NewMiniRedis()
		c, err := server.Dial() // starts it without a listener
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		defer server.Close()
		redistest.Identify(server)
		link, dials := memnet.New(server.Server().ServeConn), new(atomic.Int64)
		rdb := redis.NewClient(&redis.Options{
			Addr: "127.0.0.1:1", Dialer: link.Dial, MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		loaded.SHA, err = rdb.ScriptLoad(t.Context(), loaded.Source).Result()
		_ = rdb.Close()
		if err != nil {
			t.Fatal(err)
		}
		n := New(Config{Name: "n", Timeout: limit, Options: &redis.Options{Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials.Add(1)
			c, err := link.Dial(ctx, network, addr)
			return deaf{c}, err
		}}})
		defer n.Close()
		if _, err := n.Do(t.Context(), incrementOnce); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		test(t, n, link, dials)
	})
}

// loaded is counter on a server that knows it: it takes one pipeline.
var loaded = &script.Script{Name: "loaded", Source: counter.Source}

func incrementOnce(w *Writer) {
	w.Script(loaded, 1)
	w.Str("a")
}

// run puts an increment to the node, runs it, and returns its answer, which may
// not be there yet.
func run(ctx context.Context, n *Node) *simple {
	c := &simple{encode: incrementOnce, done: make(chan Reply, 1)}
	n.Put(c)
	n.Run(ctx)
	return c
}

// At a node that is quick the caller has its answer when Run returns; what others
// have queued meanwhile is sent after it, in order.
func TestRunAnswersBeforeItReturns(t *testing.T) {
	overMemory(t, time.Second, func(t *testing.T, n *Node, link *memnet.Link, dials *atomic.Int64) {
		for i := range 3 {
			c := run(t.Context(), n)
			select {
			case r := <-c.done:
				if r.Int() != int64(i+2) {
					t.Errorf("answer %d, want %d", r.Int(), i+2)
				}
			default:
				t.Fatal("the caller left it to the node's goroutine")
			}
		}
		link.Down.Delay(20 * time.Millisecond)
		first := make(chan *simple)
		go func() { first <- run(t.Context(), n) }()
		synctest.Wait()
		second := run(t.Context(), n) // returns: the first caller is at it
		select {
		case r := <-second.done:
			t.Fatalf("answered %d before the first one", r.Int())
		default:
		}
		if r := <-(<-first).done; r.Int() != 5 {
			t.Errorf("first: %d (%v), want 5", r.Int(), r.Err)
		}
		if r := <-second.done; r.Int() != 6 {
			t.Errorf("second: %d (%v), want 6", r.Int(), r.Err)
		}
		third := run(t.Context(), n) // the node was slow: nobody's caller has to wait for it
		select {
		case r := <-third.done:
			t.Errorf("answered %d on the caller's goroutine by a node that takes 20 ms", r.Int())
		default:
		}
		<-third.done
		if dials.Load() != 1 {
			t.Errorf("%d connections, want 1", dials.Load())
		}
	})
}

// Whatever becomes of the node while a caller reads from it, Run ends with the
// caller's context, with the node's timeout and with Close, also on a connection
// that heeds no deadline; the call has one answer, and the node serves on.
func TestRunEndsWithItsContext(t *testing.T) {
	const limit = time.Second
	for name, c := range map[string]struct {
		ctx    func(context.Context) (context.Context, context.CancelFunc)
		closes bool
		after  time.Duration
	}{
		"deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 50*time.Millisecond)
		}, false, 50*time.Millisecond + grace},
		"cancel": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(30*time.Millisecond, cancel)
			return ctx, cancel
		}, false, 30*time.Millisecond + grace},
		"no end": {func(context.Context) (context.Context, context.CancelFunc) {
			return context.Background(), func() {}
		}, false, limit},
		"close": {context.WithCancel, true, 10 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			overMemory(t, limit, func(t *testing.T, n *Node, link *memnet.Link, _ *atomic.Int64) {
				link.Down.Hold()
				ctx, cancel := c.ctx(t.Context())
				defer cancel()
				if c.closes {
					time.AfterFunc(10*time.Millisecond, func() { _ = n.Close() })
				}
				began := time.Now()
				call := run(ctx, n)
				if took := time.Since(began); took != c.after {
					t.Errorf("returned after %v, want %v", took, c.after)
				}
				link.Down.Free()
				time.Sleep(2 * limit)
				if got := len(call.done); got != 1 {
					t.Fatalf("%d answers, want 1", got)
				}
				r, err := n.Do(t.Context(), incrementOnce)
				switch {
				case c.closes && !errors.Is(err, ErrClosed):
					t.Errorf("closed: %v", err)
				case !c.closes && (err != nil || r.Int() < 2):
					t.Errorf("afterwards: %d, %v", r.Int(), err)
				}
			})
		})
	}
}

// A context that has ended, or that ends sooner than the node may take, is none to
// read under: it would cost the connection.
func TestRunSparesTheConnection(t *testing.T) {
	overMemory(t, time.Second, func(t *testing.T, n *Node, link *memnet.Link, dials *atomic.Int64) {
		link.Down.Delay(quick / 2)
		<-run(t.Context(), n).done
		for range 20 {
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if r := <-run(ended, n).done; r.Err != nil {
				t.Error(r.Err)
			}
			short, cancel := context.WithTimeout(t.Context(), quick/4)
			if r := <-run(short, n).done; r.Err != nil {
				t.Error(r.Err)
			}
			cancel()
		}
		if dials.Load() != 1 {
			t.Errorf("%d connections, want 1", dials.Load())
		}
	})
}

// A caller whose context ends while it carries the calls of others ends nothing of theirs
// before the node has had its time: of what a connection ended with, nobody would know
// whether it was executed.
func TestRunWhoseContextEndsDisturbsNobody(t *testing.T) {
	overMemory(t, time.Second, func(t *testing.T, n *Node, link *memnet.Link, dials *atomic.Int64) {
		link.Down.Delay(grace / 2)
		for round := range 3 {
			other := &simple{encode: incrementOnce, done: make(chan Reply, 1)}
			n.Put(other)
			ctx, cancel := context.WithTimeout(t.Context(), grace/4)
			own := run(ctx, n)
			cancel()
			for name, c := range map[string]*simple{"the other's": other, "its own": own} {
				if r := <-c.done; r.Err != nil || r.Doubt {
					t.Errorf("round %d, %s call: %v, in doubt: %t", round, name, r.Err, r.Doubt)
				}
			}
			time.Sleep(2 * memory)
			link.Down.Delay(0)
			<-run(t.Context(), n).done // the node is quick again
			<-run(t.Context(), n).done
			link.Down.Delay(grace / 2)
		}
		if dials.Load() != 1 {
			t.Errorf("%d connections, want 1", dials.Load())
		}
	})
}

// A countingContext counts who was ever to be told of its end, and who still is.
type countingContext struct {
	context.Context
	asked, waiting *atomic.Int64
}

// Done implements context.Context: it never ends.
func (countingContext) Done() <-chan struct{} { return make(chan struct{}) }

// AfterFunc is what context.AfterFunc calls.
func (c countingContext) AfterFunc(func()) (stop func() bool) {
	c.asked.Add(1)
	c.waiting.Add(1)
	return func() bool { c.waiting.Add(-1); return true }
}

// A context that goes on for long, and under which many calls are made, keeps none of them.
func TestRunLeavesNothingWithItsContext(t *testing.T) {
	overMemory(t, time.Second, func(t *testing.T, n *Node, _ *memnet.Link, _ *atomic.Int64) {
		ctx := countingContext{t.Context(), new(atomic.Int64), new(atomic.Int64)}
		for range 3 {
			if r := <-run(ctx, n).done; r.Err != nil {
				t.Error(r.Err)
			}
		}
		if asked, waiting := ctx.asked.Load(), ctx.waiting.Load(); asked < 3 || waiting != 0 {
			t.Errorf("of %d who asked, %d are still to be told of its end", asked, waiting)
		}
	})
}
