package ports

import (
	"net"
	"testing"
)

// A port stays its picker's while nobody listens there, as at a server that was killed, and is
// another's when the picker is closed.
func TestFreePortsAreKept(t *testing.T) {
	first := Servers.Picker()
	port := first.Free()
	second := Servers.From(port)
	defer second.Close()
	if got := second.Free(); got == port {
		t.Errorf("two pickers were given port %d", port)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	third := Servers.From(port)
	defer third.Close()
	if got := third.Free(); got != port {
		t.Errorf("port %d is kept behind Close: the next one is %d", port, got)
	}
}

// A port at which somebody else listens is not reserved.
func TestTakenPortsArePassedBy(t *testing.T) {
	walk := Servers.Picker()
	port := walk.Next()
	l, err := net.Listen("tcp", Loopback(port))
	for ; err != nil; l, err = net.Listen("tcp", Loopback(port)) {
		port = walk.Next()
	}
	defer l.Close()
	second := Servers.From(port)
	defer second.Close()
	if got := second.Free(); got == port {
		t.Errorf("port %d is taken, and was given", port)
	}
	release, err := Reserve(port)
	if err != nil {
		t.Fatalf("port %d stays reserved: %v", port, err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}
