package measure_test

import (
	"testing"
	"time"

	"locktorture/cmd/torture/internal/bench"
	"locktorture/cmd/torture/internal/capacity"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/measure"
	"locktorture/cmd/torture/internal/redistest"
)

// Servers of somebody else are left as they were found: without a key.
func TestMeasurementsLeaveNoKeyBehind(t *testing.T) {
	nodes := redistest.Start(t, 3)
	servers := measure.Config{Redis: redistest.Addrs(nodes)}
	silent := func(string) {}
	_, err := bench.Run(t.Context(), bench.Config{
		Servers: servers, Catalogue: catalogue.Builtin(), Nodes: []int{3}, Workers: []int{2}, Repeats: 1, Slice: 30 * time.Millisecond, Seed: 1, Progress: silent,
		Locks: []string{"redlock", "redsync", "redsync-fast"}, Scenarios: []string{"uncontended", "contended", "extend"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if left := redistest.Keys(t, nodes); len(left) > 0 {
		t.Errorf("bench left %v", left)
	}
	_, err = capacity.Run(t.Context(), capacity.Config{
		Servers: servers, Catalogue: catalogue.Builtin(), Lock: "redlock", Masters: 3, SLO: []string{"acquire.p99<5s"}, Clients: 2, Keys: 4, TTL: time.Second,
		Repeats: 2, Step: 50 * time.Millisecond, MaxRate: 200, MaxLag: time.Minute, Outage: 100 * time.Millisecond, Budget: time.Minute, Seed: 1, Progress: silent,
	})
	if err != nil {
		t.Fatal(err)
	}
	if left := redistest.Keys(t, nodes); len(left) > 0 {
		t.Errorf("capacity left %v", left)
	}
}
