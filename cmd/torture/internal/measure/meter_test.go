package measure

import (
	"io"
	"net"
	"syscall"
	"testing"
)

// A metered connection counts what is written, and is as much of a socket as
// the one below it.
func TestMeterIsTransparent(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	socket, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	pipe, other := net.Pipe()
	defer pipe.Close()
	go func() { _, _ = io.Copy(io.Discard, other) }()
	for name, c := range map[string]net.Conn{"socket": socket, "pipe": pipe} {
		var m Meter
		counted := m.conn(c)
		for range 3 {
			if _, err := counted.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		if n := m.writes.Load(); n != 3 {
			t.Errorf("%s: %d writes counted of 3", name, n)
		}
		_, below := c.(syscall.Conn)
		if _, above := counted.(syscall.Conn); above != below {
			t.Errorf("%s: a socket below %v, above %v", name, below, above)
		}
	}
}
