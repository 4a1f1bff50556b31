package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"locktorture/lockimpl/internal/redistest"
	"locktorture/lockimpl/redlock/internal/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// each runs test with a node that makes its own connections, and with one that
// uses a caller's client.
func each(t *testing.T, test func(t *testing.T, n *Node, server *miniredis.Miniredis)) {
	for _, given := range []bool{false, true} {
		t.Run(fmt.Sprintf("client=%v", given), func(t *testing.T) {
			server := miniredis.RunT(t)
			redistest.Identify(server)
			cfg := Config{Name: "n", Timeout: 10 * time.Second}
			if given {
				cfg.Client = redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: 5})
				t.Cleanup(func() { _ = cfg.Client.Close() })
			} else {
				cfg.Options = &redis.Options{Addr: server.Addr()}
			}
			n := New(cfg)
			t.Cleanup(func() { _ = n.Close() })
			test(t, n, server)
		})
	}
}

// counter is a script that adds one to its key.
var counter = &script.Script{Name: "counter", Source: "return redis.call('INCR', KEYS[1])", SHA: "not loaded"}

func increment(key string) func(*Writer) {
	return func(w *Writer) {
		w.Script(counter, 1)
		w.Str(key)
	}
}

// Every caller counts a key of its own, in a range of its own.
func TestEachCallerGetsItsReply(t *testing.T) {
	each(t, func(t *testing.T, n *Node, server *miniredis.Miniredis) {
		const callers, calls = 4, 500
		var wg sync.WaitGroup
		for i := range callers {
			key := fmt.Sprintf("k%d", i)
			if err := server.Set(key, strconv.Itoa(i*calls)); err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				for j := range calls {
					r, err := n.Do(t.Context(), increment(key))
					if want := int64(i*calls + j + 1); err != nil || r.Int() != want {
						t.Errorf("caller %d: reply %d (%v), want %d", i, r.Int(), err, want)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

// What is queued while the node lingers goes with what it lingers for, on whosever goroutine.
func TestLingerGathers(t *testing.T) {
	for _, run := range []bool{false, true} {
		t.Run(fmt.Sprintf("run=%v", run), func(t *testing.T) {
			server := miniredis.RunT(t)
			redistest.Identify(server)
			var n *Node
			var lingered []string
			var gather bool
			first, second := &noting{lingered: &lingered, done: make(chan int, 1)}, &noting{lingered: &lingered, done: make(chan int, 1)}
			n = New(Config{Name: "n1", Options: &redis.Options{Addr: server.Addr()}, Timeout: 10 * time.Second, Linger: func(node string) {
				if lingered = append(lingered, node); gather {
					gather = false
					n.Put(second)
				}
			}})
			defer n.Close()
			if _, err := n.Do(t.Context(), increment("k")); err != nil { // so that a caller may send by itself
				t.Fatal(err)
			}
			for n.Busy() {
				time.Sleep(time.Millisecond)
			}
			gather = true
			n.last.Store(1) // it has just answered quickly
			n.told.Store(clock())
			if n.Put(first); run {
				n.Run(t.Context())
			} else {
				n.Flush()
			}
			if a, b := <-first.done, <-second.done; a != b { // sent, refused for want of the script, and sent again
				t.Errorf("the one was answered after %d pipelines, the other after %d", a, b)
			}
			_ = n.Close() // nobody lingers any more
			if lingered[0] != "n1" {
				t.Errorf("lingered for %q", lingered)
			}
		})
	}
}

// noting is a Call that notes how often its node had lingered when it was answered.
type noting struct {
	lingered *[]string
	done     chan int
}

func (*noting) Encode(w *Writer) { increment("k")(w) }
func (*noting) Wanted(bool) bool { return true }
func (c *noting) Answer(Reply)   { c.done <- len(*c.lingered) }

// A caller that gives up leaves its call, and the order, as they are.
func TestCallerThatGivesUpDisturbsNobody(t *testing.T) {
	each(t, func(t *testing.T, n *Node, _ *miniredis.Miniredis) {
		for i := range 50 {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, _ = n.Do(ctx, increment("a"))
			if r, err := n.Do(t.Context(), increment("a")); err != nil || r.Int() != int64(2*i+2) {
				t.Fatalf("reply %d (%v), want %d", r.Int(), err, 2*i+2)
			}
		}
	})
}

// A call that finds the connection broken is sent on the next one.
func TestCallOutlivesItsConnection(t *testing.T) {
	each(t, func(t *testing.T, n *Node, server *miniredis.Miniredis) {
		for i := range 10 {
			if r, err := n.Do(t.Context(), increment("a")); err != nil || r.Int() != int64(i+1) {
				t.Fatalf("reply %d (%v), want %d", r.Int(), err, i+1)
			}
			addr := server.Addr()
			server.Close()
			if err := server.StartAddr(addr); err != nil {
				t.Fatal(err)
			}
			redistest.Identify(server)
		}
	})
}

// One connection serves a large pipeline and what comes long after it.
func TestLargePipelineDoesNotCostTheNextOneItsConnection(t *testing.T) {
	server := miniredis.RunT(t)
	redistest.Identify(server)
	const limit = 2 * time.Second // enough for a busy machine
	n := New(Config{Name: "n", Options: &redis.Options{Addr: server.Addr()}, Timeout: limit})
	defer n.Close()
	for i, key := range []string{"a", strings.Repeat("k", 100_000), "a"} {
		if i > 0 {
			time.Sleep(limit + limit/10)
		}
		if _, err := n.Do(t.Context(), increment(key)); err != nil {
			t.Fatal(err)
		}
	}
	if made := server.TotalConnectionCount(); made != 1 {
		t.Errorf("%d connections, want 1", made)
	}
}

// Whatever answers in the place of a server, the call has an error.
func TestHostileReplies(t *testing.T) {
	for _, text := range []string{
		"$9223372036854775807\r\n", "$-9223372036854775808\r\n", "*9223372036854775807\r\n", "*-9223372036854775808\r\n",
		":9223372036854775808\r\n", "\r\n", "$\r\n", "HTTP/1.1 400 Bad Request\r\n", strings.Repeat("*1\r\n", 100), "",
	} {
		t.Run(fmt.Sprintf("%.20q", text), func(t *testing.T) {
			for _, greeted := range []bool{false, true} {
				hostile := func(_ context.Context, _, _ string) (net.Conn, error) {
					mine, theirs := net.Pipe()
					go answer(theirs, greeted, text)
					return mine, nil
				}
				n := New(Config{Name: "n", Options: &redis.Options{Dialer: hostile}, Timeout: 5 * time.Second, Anonymous: true})
				if r, err := n.Do(t.Context(), increment("a")); err == nil {
					t.Errorf("greeted %v: answered %d", greeted, r.Int())
				}
				if err := n.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// answer says text to the first command, or, once the lock has loaded its
// scripts, to the next one; and hangs up.
func answer(c net.Conn, greeted bool, text string) {
	defer c.Close()
	br := bufio.NewReader(c)
	for loaded := 0; ; {
		line, err := br.ReadString('\n')
		if err != nil {
			return
		}
		if line[0] != '*' {
			continue
		}
		words, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
		var name string
		for i := range words {
			size, _ := br.ReadString('\n')
			n, _ := strconv.Atoi(strings.TrimSpace(size[1:]))
			word := make([]byte, n+2)
			if _, err := io.ReadFull(br, word); err != nil {
				return
			}
			if i == 0 {
				name = strings.ToLower(string(word[:n]))
			}
		}
		reply := "+OK\r\n"
		switch {
		case !greeted, loaded == len(script.All()):
			_, _ = io.WriteString(c, text)
			return
		case name == "script":
			loaded++
		case name == "hello":
			reply = "-ERR unknown command\r\n"
		}
		go func() { _, _ = io.WriteString(c, reply) }() // a pipe has no buffer
	}
}

func TestClosedNodeAnswersAtOnce(t *testing.T) {
	each(t, func(t *testing.T, n *Node, _ *miniredis.Miniredis) {
		if _, err := n.Do(t.Context(), increment("a")); err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Do(t.Context(), increment("a")); !errors.Is(err, ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	})
}

// unwritable is a connection that carries a greeting and nothing after it.
type unwritable struct {
	net.Conn
	writes atomic.Int64
}

// Write implements net.Conn.
func (c *unwritable) Write(b []byte) (int, error) {
	if c.writes.Add(1) > 1 {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

// A call that one connection after the other does not carry is given up, as one that was not
// sent.
func TestCallThatCannotBeWrittenIsGivenUp(t *testing.T) {
	server := miniredis.RunT(t)
	redistest.Identify(server)
	var dials atomic.Int64
	n := New(Config{Name: "n", Timeout: time.Minute, Options: &redis.Options{
		Addr: server.Addr(), DisableIdentity: true,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials.Add(1)
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			return &unwritable{Conn: c}, err
		},
	}})
	defer n.Close()
	r, err := n.Do(t.Context(), increment("k"))
	if err == nil || r.Outcome != NotExecuted || r.Doubt {
		t.Errorf("outcome %d, doubt %v: %v", r.Outcome, r.Doubt, err)
	}
	if made := dials.Load(); made > 10 {
		t.Errorf("%d connections", made)
	}
}

// spoilt is a connection of which the third party decides what becomes of the counter's text.
type spoilt struct {
	net.Conn
	refuses bool // it is not written
	gone    atomic.Bool
}

// Write implements net.Conn.
func (c *spoilt) Write(b []byte) (int, error) {
	if strings.Contains(string(b), counter.Source) {
		if c.refuses {
			return 0, net.ErrClosed
		}
		c.gone.Store(true) // and its answer is lost
	}
	return c.Conn.Write(b)
}

// Read implements net.Conn.
func (c *spoilt) Read(b []byte) (int, error) {
	if c.gone.Load() {
		return 0, io.EOF
	}
	return c.Conn.Read(b)
}

// A call that was sent once is in doubt for good: a later connection that ends before anything
// was written takes nothing back.
func TestConnectionThatCarriesNothingLeavesTheDoubt(t *testing.T) {
	server := miniredis.RunT(t)
	redistest.Identify(server)
	var dials atomic.Int64
	n := New(Config{Name: "n", Timeout: time.Minute, Options: &redis.Options{
		Addr: server.Addr(), DisableIdentity: true,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			switch dials.Add(1) {
			case 1:
				return &spoilt{Conn: c}, err
			case 2:
				return &spoilt{Conn: c, refuses: true}, err
			}
			return c, err
		},
	}})
	defer n.Close()
	r, err := n.Do(t.Context(), increment("k"))
	if err != nil || !r.Doubt || dials.Load() != 3 {
		t.Errorf("doubt %v, after %d connections: %v", r.Doubt, dials.Load(), err)
	}
}

// A clock that goes back makes no lag negative: whoever chooses the fastest nodes by it would
// find too few, or none.
func TestLagUnderAClockThatGoesBack(t *testing.T) {
	later := clock() + int64(time.Hour)
	var n Node
	n.last.Store(int64(-time.Hour))
	n.told.Store(clock())
	if lag := n.Lag(); lag != 0 {
		t.Errorf("what was measured across the step: %v", lag)
	}
	n.last.Store(int64(time.Second))
	n.told.Store(later)
	n.since.Store(later)
	if lag := n.Lag(); lag != 0 {
		t.Errorf("what was told and sent before the step: %v", lag)
	}
	n.told.Store(clock())
	if lag := n.Lag(); lag != time.Second {
		t.Errorf("what was told just now: %v", lag)
	}
}
