package link

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// outcomes returns "COMMAND key outcome" for each receipt.
func (r *rig) outcomes() string {
	var lines []string
	for _, receipt := range r.link.Receipts() {
		lines = append(lines, fmt.Sprintf("%s %s %s", receipt.Command.Command, receipt.Command.Key, receipt.Outcome))
	}
	return strings.Join(lines, ", ")
}

func TestReceipts(t *testing.T) {
	for _, c := range []struct {
		impair Impairment
		before string // the heal, after the client has given up
		after  string
	}{
		{Impairment{Kind: BlackHole}, "never-forwarded", "never-forwarded"},
		{Impairment{Kind: RequestLost}, "never-forwarded", "never-forwarded"},
		{Impairment{Kind: ResponseLost}, "answered", "answered"},
		{Impairment{Kind: SlowReply}, "answered", "answered"},
		{Impairment{Kind: FastLostReply}, "answered", "answered"},
		{Impairment{Kind: Stall}, "undecided", "forwarded"},
		{Impairment{Kind: Zombie}, "undecided", "forwarded"},
	} {
		t.Run(string(c.impair.Kind), func(t *testing.T) {
			r := newRig(t, NewEmbedded())
			conn := r.dial()
			a := r.impair(c.impair)
			conn.send(t, "SET", "k", "v")
			await(t, "the impact", func() bool { return a.count().Bytes > 0 })
			_ = conn.Close()
			await(t, c.before, func() bool { return r.outcomes() == "SET k "+c.before })
			r.heal(a)
			await(t, c.after, func() bool {
				got := r.outcomes() // an answer may still be seen before the far end is closed too
				return got == "SET k "+c.after || c.after == "forwarded" && got == "SET k answered"
			})
		})
	}
}

func TestKeepForgetsTheRest(t *testing.T) {
	r := newRig(t, NewEmbedded())
	conns := []*client{r.dial(), r.dial(), r.dial()}
	r.impair(Impairment{Kind: BlackHole})
	for i, conn := range conns {
		conn.send(t, "SET", string(rune('a'+i)), "v")
		_ = conn.Close()
	}
	await(t, "three receipts", func() bool { return strings.Count(r.outcomes(), "never-forwarded") == 3 })
	var second Receipt
	for _, receipt := range r.link.Receipts() {
		if receipt.Command.Key == "b" {
			second = receipt
		}
	}
	r.link.Keep(func(conn, request uint64) bool {
		return conn == second.Command.Conn && request == second.Command.Request
	})
	if got := r.outcomes(); got != "SET b never-forwarded" {
		t.Errorf("kept %q", got)
	}
}

func TestReceiptsTellTheLostFromTheServed(t *testing.T) {
	r := newRig(t, NewEmbedded())
	conn := r.dial()
	conn.send(t, "SET", "served", "v")
	conn.want(t, "+OK")
	lost := r.impair(Impairment{Kind: ResponseLost})
	conn.send(t, "SET", "applied", "v")
	r.awaitApplied("applied")
	await(t, "the lost reply", func() bool { return lost.count().Bytes > 0 })
	cut := r.impair(Impairment{Kind: RequestLost})
	conn.send(t, "SET", "dropped", "v")
	await(t, "the drop", func() bool { return cut.count().Bytes > 0 })
	r.heal(lost)
	conn.wantEnd(t)
	r.heal(cut)
	const want = "SET applied answered, SET dropped never-forwarded"
	await(t, want, func() bool { return r.outcomes() == want })
}

func TestCutDestroysWhatIsHeld(t *testing.T) {
	r := newRig(t, NewEmbedded())
	conn := r.dial()
	stall := r.impair(Impairment{Kind: Stall})
	conn.send(t, "SET", "k", "v")
	await(t, "the hold", func() bool { return stall.count().Bytes > 0 })
	cut := r.impair(Impairment{Kind: Cut})
	conn.wantEnd(t)
	r.heal(stall)
	r.heal(cut)
	await(t, "the receipt", func() bool { return r.outcomes() == "SET k never-forwarded" })
	if r.applied("k") {
		t.Error("applied")
	}
}

func TestPrefaceInPieces(t *testing.T) {
	p, _, preface := newProgress()
	message := append(preface, "PING\r\n"...)
	for size := 1; size <= len(message); size++ {
		var reader prefaceReader
		var got []byte
		to := newPair()
		progressOf.Store(lastProgress.Load(), p)
		for rest := message; len(rest) > 0; {
			n := min(size, len(rest))
			if c := reader.read(&stream.StreamChunk{Data: append([]byte(nil), rest[:n]...)}, to); c != nil {
				got = append(got, c.Data...)
			}
			rest = rest[n:]
		}
		if string(got) != "PING\r\n" || to.progress.Load() != p {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
	var foreign prefaceReader
	if c := foreign.read(&stream.StreamChunk{Data: []byte("PING\r\n")}, newPair()); string(c.Data) != "PING\r\n" {
		t.Errorf("without a preface: %q", c.Data)
	}
}

// The shape of a reply is known for the last ones on a connection alone.
func TestShapesOfLateReplies(t *testing.T) {
	var p progress
	for range 3 * lateShapes {
		p.answer(Shape{Type: ':', Leaf: '+'})
	}
	for request, want := range map[uint64]Shape{
		1: {}, lateShapes: {}, 2 * lateShapes: {}, 2*lateShapes + 2: {Type: ':', Leaf: '+'}, 3 * lateShapes: {Type: ':', Leaf: '+'}, 3*lateShapes + 1: {},
	} {
		if got := p.shape(request); got != want {
			t.Errorf("request %d: %q; want %q", request, got, want)
		}
	}
}

// A connection that ends before its first request has forwarded nothing, and
// never will.
func TestUnusedConnection(t *testing.T) {
	r := newRig(t, NewEmbedded())
	raw, err := r.link.Dial(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	c := raw.(*conn)
	c.pass(&c.requests, []byte(command("SET", "k", "v"))) // on its way when the connection is closed
	_ = c.Close()
	if n, err := c.writeOut([]byte("x")); n != 0 || err == nil {
		t.Errorf("wrote %d, %v", n, err)
	}
	if got := r.outcomes(); got != "SET k never-forwarded" {
		t.Error(got)
	}
}
