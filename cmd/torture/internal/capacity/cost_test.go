package capacity

import (
	"context"
	"testing"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/measure"
	"locktorture/cmd/torture/internal/redistest"
)

// Keys that are held take memory on the server, and are given back; what was broken off
// says nothing.
func TestHeldKeysTakeMemory(t *testing.T) {
	nodes := redistest.Start(t, 1)
	servers, err := measure.Start(t.Context(), measure.Config{Nodes: 1, Given: config.Config{Redis: redistest.Addrs(nodes)}})
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close(t.Context())
	lock, err := measure.FindContestant(catalogue.Builtin(), "single")
	if err != nil {
		t.Fatal(err)
	}
	s := &survey{servers: servers, lock: lock}
	if err := servers.Bootstrap(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	c, err := s.connect(t.Context(), 1, 2, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	bytes, missing, err := s.hold(t.Context(), c, 1, heldKeys, c.Prefix+"-held")
	if err != nil || missing == "" && (bytes < 50 || bytes > 2000) { // a machine that starves holds too few in time, and says so
		t.Errorf("%.0f B a key, %q, %v", bytes, missing, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if bytes, missing, err := s.hold(ended, c, 1, 10, c.Prefix+"-ended"); err == nil {
		t.Errorf("of what was broken off: %.0f B a key, %q", bytes, missing)
	}
}
