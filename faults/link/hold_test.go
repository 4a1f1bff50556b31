package link

import (
	"net"
	"runtime"
	"testing"
)

// A cut road keeps its port: nobody else can listen there, and dials are
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
	road, err := f.Open(t.Context(), "c", "n", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := road.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	w, err := road.Impair(t.Context(), Impairment{Kind: Cut})
	if err != nil {
		t.Fatal(err)
	}
	if thief, err := net.Listen("tcp", road.(Listener).Addr()); err == nil {
		_ = thief.Close()
		t.Error("another listener took the port of a cut road")
	}
	if conn, err := road.Dial(t.Context()); err == nil {
		_ = conn.Close()
		t.Error("a cut road is dialled")
	}
	if _, err := w.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn2, err := road.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = conn2.Close()
}
