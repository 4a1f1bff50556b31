package catalogue

import (
	"net"
	"testing"

	"locktorture/faults"
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
		f := r.inject(t, "stuck-connection", faults.Params{Client: "c00"})
		send(t, before, setLate)
		after := r.dialled(t)
		send(t, after, setEarly)
		listen(t, after, "+OK\r\n")
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
