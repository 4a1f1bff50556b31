package node

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"go.uber.org/goleak"

	"locktorture/lockimpl/internal/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// direct returns a node whose callers may read their own replies.
func direct(t *testing.T) (*Node, *miniredis.Miniredis) {
	t.Helper()
	server := miniredis.RunT(t)
	redistest.Identify(server)
	n := New(Config{Name: "n", Addr: server.Addr(), Timeout: 10 * time.Second, Direct: true})
	t.Cleanup(func() { _ = n.Close() })
	return n, server
}

// ask is what a caller does: queue, flush and, when nobody else does, read.
func ask(ctx context.Context, n *Node, encode func(*Writer)) *simple {
	c := &simple{encode: encode, done: make(chan Reply, 1)}
	closed := make(chan struct{})
	answered := &closing{simple: c, closed: closed}
	n.Put(answered)
	if n.Flush() {
		n.Drive(ctx, closed)
	}
	return c
}

// closing is a simple call that tells when it is answered.
type closing struct {
	*simple
	closed chan struct{}
}

func (c *closing) Answer(r Reply) {
	c.simple.Answer(r)
	close(c.closed)
}

func increment(key string) func(*Writer) {
	return func(w *Writer) {
		w.array(2)
		w.Strs("INCR", key)
	}
}

// With two readers on one connection replies are lost or go to others: here
// every caller counts a key of its own, in a range of its own.
func TestDirectEachCallerGetsItsReply(t *testing.T) {
	n, server := direct(t)
	const callers, calls = 4, 2000
	var wg sync.WaitGroup
	for i := range callers {
		key := fmt.Sprintf("k%d", i)
		if err := server.Set(key, strconv.Itoa(i*calls)); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for j := range calls {
				r := <-ask(t.Context(), n, increment(key)).done
				if want := int64(i*calls + j + 1); r.Err != nil || r.Int() != want {
					t.Errorf("caller %d: reply %d (%v), want %d", i, r.Int(), r.Err, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// A caller that gives up leaves its reply to the node.
func TestDirectInterrupted(t *testing.T) {
	n, server := direct(t)
	<-ask(t.Context(), n, increment("a")).done // the connection is there
	for i := range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		c := ask(ctx, n, increment("b"))
		if r := <-c.done; r.Err != nil || r.Int() != int64(i+1) {
			t.Fatalf("reply %d (%v), want %d", r.Int(), r.Err, i+1)
		}
	}
	if got, err := server.Get("b"); err != nil || got != "200" {
		t.Errorf("b is %q (%v), want 200", got, err)
	}
}

// A caller that finds the connection broken has its call sent on the next one.
func TestDirectBroken(t *testing.T) {
	n, server := direct(t)
	for i := range 20 {
		if r := <-ask(t.Context(), n, increment("a")).done; r.Err != nil || r.Int() != int64(i+1) {
			t.Fatalf("reply %d (%v), want %d", r.Int(), r.Err, i+1)
		}
		addr := server.Addr()
		server.Server().Close()
		server.Close()
		if err := server.StartAddr(addr); err != nil {
			t.Fatal(err)
		}
		redistest.Identify(server)
	}
}
