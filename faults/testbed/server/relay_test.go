package server

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// A relay passes on what is asked and answered, with other ports where an address is
// named, in bulk strings and nowhere else; closed, it leaves nobody connected.
func TestRelay(t *testing.T) {
	sentinel, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer sentinel.Close()
	answers := "*2\r\n$9\r\n127.0.0.1\r\n$5\r\n21111\r\n" + "$39\r\ntorture 127.0.0.1 21111 127.0.0.1 21112\r\n" +
		"$15\r\n127.0.0.1:21113\r\n" + ":21111\r\n$-1\r\n$0\r\n\r\n$6\r\n211111\r\n+21111\r\n"
	want := "*2\r\n$9\r\n127.0.0.1\r\n$4\r\n4001\r\n" + "$37\r\ntorture 127.0.0.1 4001 127.0.0.1 4002\r\n" +
		"$15\r\n127.0.0.1:21113\r\n" + ":21111\r\n$-1\r\n$0\r\n\r\n$6\r\n211111\r\n+21111\r\n"
	go func() {
		c, err := sentinel.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = bufio.NewReader(c).ReadString('\n')
		_, _ = io.WriteString(c, answers)
		_, _ = c.Read(make([]byte, 1)) // until the relay closes
	}()
	r, err := OpenRelay(t.Context(), sentinel.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"127.0.0.1:21111": "127.0.0.1:4001", "127.0.0.1:21112": "127.0.0.1:4002"} {
		if err := r.Name(from, to); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Name("127.0.0.1:1", "192.0.2.1:1"); err == nil || !strings.Contains(err.Error(), "different hosts") {
		t.Errorf("another host: %v", err)
	}
	c, err := net.Dial("tcp", r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, "ask\r\n"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the client is connected still")
	}
	if _, err := net.Dial("tcp", r.Addr()); err == nil {
		t.Error("the relay listens still")
	}
}
