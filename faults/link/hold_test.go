package link

import (
	"net"
	"runtime"
	"testing"
)

// A cut link keeps its port: nobody else can listen there, and dials are
// refused.
func TestCutKeepsItsPort(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux keeps a port without listening")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f := NewEmbedded()
	defer f.Close()
	link, err := f.Open(t.Context(), "c", "n", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := link.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	a, err := link.Impair(t.Context(), Impairment{Kind: Cut})
	if err != nil {
		t.Fatal(err)
	}
	if thief, err := net.Listen("tcp", link.(Listener).Addr()); err == nil {
		_ = thief.Close()
		t.Error("another listener took the port of a cut link")
	}
	if conn, err := link.Dial(t.Context()); err == nil {
		_ = conn.Close()
		t.Error("a cut link is dialled")
	}
	if _, err := a.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn2, err := link.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn2.Close()
}
