package link

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/alicebob/miniredis/v2"
	"github.com/rs/zerolog"
	zlog "github.com/rs/zerolog/log"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	zlog.Logger = zerolog.Nop() // the stock bandwidth toxic logs there
	// removing a stock toxic under load can leave this goroutine behind
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/Shopify/toxiproxy/v2/toxics.(*NoopToxic).Pipe"))
}

// A rig is one link to one Redis.
type rig struct {
	t     *testing.T
	redis *miniredis.Miniredis
	link  *proxyLink
}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func newRig(t *testing.T, f Fabric) *rig {
	t.Helper()
	redis := miniredis.RunT(t)
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	l, err := f.Open(testContext(t), "c1", "n1", redis.Addr())
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, redis: redis, link: l.(*proxyLink)}
}

// startToxiproxy runs a toxiproxy server as another process would.
func startToxiproxy(t *testing.T) (api string, server *toxiproxy.ApiServer) {
	server = toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	h := httptest.NewServer(server.Routes())
	t.Cleanup(h.Close)
	return h.Listener.Addr().String(), server
}

// fabrics returns one of each kind.
func fabrics(t *testing.T) map[string]Fabric {
	api, _ := startToxiproxy(t)
	return map[string]Fabric{
		"embedded": NewEmbedded(),
		"remote":   NewRemote(RemoteConfig{API: api, RunID: "r1", FirstPort: 25000, LastPort: 25999}),
	}
}

func (r *rig) impair(i Impairment) *applied {
	r.t.Helper()
	a, err := r.link.Impair(testContext(r.t), i)
	if err != nil {
		r.t.Fatal(err)
	}
	return a.(*applied)
}

func (r *rig) heal(a Applied) Impact {
	r.t.Helper()
	b, err := a.Heal(testContext(r.t))
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// dial opens a connection that has already answered once.
func (r *rig) dial() *client {
	r.t.Helper()
	c := r.dialSilently()
	c.send(r.t, "PING")
	c.want(r.t, "+PONG")
	return c
}

// dialSilently opens a connection, and sends nothing.
func (r *rig) dialSilently() *client {
	r.t.Helper()
	conn, err := r.link.Dial(testContext(r.t))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	return &client{Conn: conn, in: bufio.NewReader(conn)}
}

func (r *rig) applied(key string) bool { return r.redis.Exists(key) }

// awaitApplied returns when the key is there.
func (r *rig) awaitApplied(key string) {
	r.t.Helper()
	await(r.t, "SET "+key+" to be applied", func() bool { return r.applied(key) })
}

// affected returns when the impairment has met what was sent into it.
func (r *rig) affected(a Applied) {
	r.t.Helper()
	await(r.t, "what the impairment does", func() bool { return a.Impact().Any() })
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	ctx := testContext(t)
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatal("no sign of " + what)
		case <-time.After(time.Millisecond):
		}
	}
}

// A client speaks RESP on one connection.
type client struct {
	net.Conn
	in *bufio.Reader
}

func command(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

func (c *client) send(t *testing.T, words ...string) {
	t.Helper()
	if _, err := io.WriteString(c, command(words...)); err != nil {
		t.Fatal(err)
	}
}

// want waits for a one-line reply.
func (c *client) want(t *testing.T, reply string) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	line, err := c.in.ReadString('\n')
	if strings.TrimSpace(line) != reply {
		t.Fatalf("reply %q, %v; want %q", line, err, reply)
	}
}

// wantSilence fails when anything comes, be it the connection's end.
func (c *client) wantSilence(t *testing.T) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	var timeout net.Error
	if b, err := c.in.Peek(1); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Fatalf("got %q, %v; want silence", b, err)
	}
	c.in.Reset(c.Conn) // forget the timeout
}

// wantEnd waits for the connection to be closed.
func (c *client) wantEnd(t *testing.T) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	var timeout net.Error
	if b, err := c.in.Peek(1); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatalf("got %q, %v; want the end", b, err)
	}
}
