//go:build unix

package link

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"locktorture/faults/link/internal/socket"
)

// enter opens a connection as a client in another process does, and has it
// answered once.
func (r *rig) enter() *client {
	r.t.Helper()
	addr, err := r.link.OpenIngress(testContext(r.t))
	if err != nil {
		r.t.Fatal(err)
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	c := &client{Conn: conn, in: bufio.NewReader(conn)}
	c.send(r.t, "PING")
	c.want(r.t, "+PONG")
	return c
}

// wantTurnedAway dials the ingress and wants the connection to be reset.
func (r *rig) wantTurnedAway() {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.link.IngressAddr())
	if err == nil {
		defer conn.Close()
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		_, err = conn.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		r.t.Errorf("during the cut: %v, want a reset", err)
	}
}

// Whoever dials during a cut, without a connection before, is a dial that it refused.
func TestCutTurnsNewcomersAway(t *testing.T) {
	r := newRig(t, NewEmbedded())
	if _, err := r.link.OpenIngress(testContext(t)); err != nil {
		t.Fatal(err)
	}
	cut := r.impair(Impairment{Kind: Cut})
	r.wantTurnedAway()
	await(t, "the dial", func() bool { return cut.Impact().Dials == 1 })
	if got := r.heal(cut); got.Dials != 1 {
		t.Errorf("at the heal: %+v", got)
	}
	r.enter()
}

func TestIngressIsTappedAndCounted(t *testing.T) {
	for name, f := range fabrics(t) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, f)
			var mu sync.Mutex
			var seen []string
			defer r.link.Tap(func(e TapEvent) {
				mu.Lock()
				defer mu.Unlock()
				what := e.Command + " " + e.Key
				if e.Reply {
					what += " answered"
				}
				seen = append(seen, what)
			})()
			c := r.enter()
			c.send(t, "SET", "k", "v")
			c.want(t, "+OK")
			mu.Lock()
			got := strings.Join(seen, ", ")
			mu.Unlock()
			if want := "PING , PING  answered, SET k, SET k answered"; got != want {
				t.Errorf("tapped %q, want %q", got, want)
			}
			set := int64(len(command("PING")) + len(command("SET", "k", "v")))
			if now := r.link.Traffic(); now.Conns != 1 || now.Sent != set || now.Received != int64(len("+PONG\r\n+OK\r\n")) {
				t.Errorf("traffic %+v", now)
			}
		})
	}
}

// A written is a connection that says what the link has counted when bytes leave through it.
type written struct {
	net.Conn
	link *proxyLink
	sent []int64
	took int // bytes of each write, then an error; 0: all
}

func (w *written) Write(p []byte) (int, error) {
	w.sent = append(w.sent, w.link.Traffic().Sent)
	if w.took > 0 {
		return w.took, io.ErrShortWrite
	}
	return len(p), nil
}

// Whoever has read a reply finds its request counted, however late the writer goes on.
func TestRequestIsCountedBeforeItsReplyCanCome(t *testing.T) {
	r := newRig(t, NewEmbedded())
	ping := command("PING")
	w := &written{link: r.link}
	if _, err := newConn(w, r.link, 1).Write([]byte(ping)); err != nil {
		t.Fatal(err)
	}
	if want := int64(len(ping)); len(w.sent) != 1 || w.sent[0] != want {
		t.Errorf("counted %v while it left, want %d", w.sent, want)
	}
	before := r.link.Traffic().Sent
	w.took = 5
	if n, err := newConn(w, r.link, 2).Write([]byte(ping)); n != 5 || err == nil {
		t.Fatal(n, err)
	}
	if got := r.link.Traffic().Sent - before; got != 5 {
		t.Errorf("%d bytes counted of a write that took 5", got)
	}
}

// A tapped command waits at the ingress: nothing of it has reached the node.
func TestIngressHoldsTheTappedCommand(t *testing.T) {
	r := newRig(t, NewEmbedded())
	c := r.enter()
	held, free := make(chan struct{}), make(chan struct{})
	defer r.link.Tap(func(e TapEvent) {
		if e.Command == "SET" && !e.Reply {
			close(held)
			<-free
		}
	})()
	c.send(t, "SET", "k", "v")
	<-held
	lost := r.impair(Impairment{Kind: RequestLost})
	close(free)
	await(t, "the loss", func() bool { return lost.count().Bytes > 0 })
	if r.applied("k") {
		t.Error("applied")
	}
}

func TestReceiptsByTheIngress(t *testing.T) {
	for kind, want := range map[Kind]string{
		BlackHole: "never-forwarded", RequestLost: "never-forwarded", ResponseLost: "answered", SlowReply: "answered", FastLostReply: "answered",
	} {
		t.Run(string(kind), func(t *testing.T) {
			r := newRig(t, NewEmbedded())
			c := r.enter()
			a := r.impair(Impairment{Kind: kind})
			c.send(t, "SET", "k", "v")
			await(t, "the impact", func() bool { return a.count().Bytes > 0 })
			_ = c.Close()
			await(t, want, func() bool { return r.outcomes() == "SET k "+want })
		})
	}
}

// A cut counts connections at rest as closed once their clients have missed them,
// and not before. Connections that are made meanwhile are reset, and count as dials
// that were refused.
func TestCutByTheIngress(t *testing.T) {
	for how, miss := range map[string]func(c *client){
		"a command": func(c *client) { _, _ = io.WriteString(c, command("SET", "k", "v")) },
		"a close":   func(c *client) { _ = c.Close() },
	} {
		t.Run(how, func(t *testing.T) {
			r := newRig(t, NewEmbedded())
			c := r.enter()
			cut := r.impair(Impairment{Kind: Cut})
			c.wantEnd(t)
			if got := cut.Impact(); got.Any() {
				t.Errorf("before anybody has noticed: %+v", got)
			}
			miss(c)
			await(t, "a connection that is missed", func() bool { return cut.Impact().Conns == 1 })
			r.wantTurnedAway()
			await(t, "the dial", func() bool { return cut.Impact().Dials == 1 && r.link.Traffic().Refused == 1 })
			if got := r.heal(cut); got.Conns != 1 {
				t.Errorf("at the heal: %+v", got)
			}
			r.enter()
			if how == "a command" {
				await(t, "the receipt", func() bool { return r.outcomes() == "SET k never-forwarded" })
			}
			if r.applied("k") {
				t.Error("applied")
			}
		})
	}
}

func TestResetByTheIngress(t *testing.T) {
	r := newRig(t, NewEmbedded())
	c := r.enter()
	reset := r.impair(Impairment{Kind: Reset})
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := c.in.ReadByte(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read %v, want a reset", err)
	}
	if got := reset.Impact(); got.Any() {
		t.Errorf("before a later command: %+v", got)
	}
	r.enter()
	if got := r.heal(reset); got.Conns != 1 {
		t.Errorf("%+v", got)
	}
}

func TestPartitionByTheIngress(t *testing.T) {
	if !socket.DropsDials {
		t.Skip("other processes' dials are answered here")
	}
	r := newRig(t, NewEmbedded())
	c := r.enter()
	for _, first := range []string{"partition", "cut"} { // in whichever order they begin and end
		var hole, cut *applied
		if first == "partition" {
			hole = r.impair(Impairment{Kind: BlackHole})
			cut = r.impair(Impairment{Kind: Cut})
		} else {
			cut = r.impair(Impairment{Kind: Cut})
			hole = r.impair(Impairment{Kind: BlackHole})
		}
		r.heal(cut)
		var late net.Error
		if _, err := net.DialTimeout("tcp", r.link.IngressAddr(), 50*time.Millisecond); !errors.As(err, &late) || !late.Timeout() {
			t.Errorf("%s first, partitioned: %v", first, err)
		}
		r.heal(hole)
		_ = c.Close()
		c = r.enter()
	}
}

// What clients have sent is known after Settle, however busy the machine is.
func TestSettle(t *testing.T) {
	r := newRig(t, NewEmbedded())
	r.enter()
	var counted int
	defer r.link.Tap(func(e TapEvent) {
		if e.Command == "SET" && !e.Reply {
			time.Sleep(20 * time.Microsecond) // the link is slower than the clients
			counted++
		}
	})()
	const each, rounds = 50, 4
	for round := 1; round <= rounds; round++ {
		conn, err := net.Dial("tcp", r.link.IngressAddr()) // not accepted yet, maybe
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for range each {
			if _, err := io.WriteString(conn, command("SET", "k", "v")); err != nil {
				t.Fatal(err)
			}
		}
		r.link.Drain(testContext(t))
		if counted != round*each {
			t.Fatalf("round %d: %d commands known, want %d", round, counted, round*each)
		}
	}
}
