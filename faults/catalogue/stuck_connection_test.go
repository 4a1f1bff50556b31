package catalogue

import (
	"context"
	"net"
	"testing"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/link"
)

const (
	setLate  = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\nlate\r\n"
	setEarly = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nearly\r\n"
)

// What was sent on a connection that is stuck arrives after what was sent on
// the next one.
func TestStuckConnection(t *testing.T) {
	onEach(t, 1, 1, func(t *testing.T, r *rig) {
		before := r.dialled(t)
		held := r.held("c00", "n1")
		f := r.inject(t, "stuck-connection", faults.Params{Client: "c00"})
		send(t, before, setLate)
		after := r.dialled(t)
		send(t, after, setEarly)
		listen(t, after, "+OK\r\n")
		held(t)
		f.healed(t, "held", "c00→n1")
		listen(t, before, "+OK\r\n")
		if got := r.Get(t, r.Node("n1"), "k"); got != "late" {
			t.Errorf("the node stores %s", got)
		}
	})
}

// dialled opens a connection that has already answered once, in words that an
// embedded node understands too.
func (r *rig) dialled(t *testing.T) net.Conn {
	t.Helper()
	conn, err := r.Link("c00", "n1").Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	send(t, conn, "*1\r\n$4\r\nPING\r\n")
	listen(t, conn, "+PONG\r\n")
	return conn
}

// held returns what waits until an impairment that is still to come has met something on the link.
func (r *rig) held(client, node string) func(t *testing.T) {
	l := &impairedLink{Link: r.Link(client, node)}
	r.Links[client+"→"+node] = l
	return func(t *testing.T) {
		t.Helper()
		for deadline := time.Now().Add(faulttest.Late); !l.applied.Impact().Any(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("nothing of what was sent is held")
			}
		}
	}
}

// An impairedLink keeps its last impairment.
type impairedLink struct {
	link.Link
	applied link.Applied
}

func (l *impairedLink) Impair(ctx context.Context, i link.Impairment) (link.Applied, error) {
	a, err := l.Link.Impair(ctx, i)
	l.applied = a
	return a, err
}
