package measure_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/bench"
	"locktorture/cmd/torture/internal/capacity"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/measure"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed/server"
)

// Servers of somebody else are left as they were found: without a key.
func TestMeasurementsLeaveNoKeyBehind(t *testing.T) {
	nodes := redistest.Start(t, 3)
	servers := measure.Config{Given: config.Config{Redis: redistest.Addrs(nodes)}}
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

// Servers by URL, with a password, and with keys of others beside a prefix.
func TestMeasurementsBesideTheKeysOfOthers(t *testing.T) {
	port := redistest.FreePort(t)
	at := server.Endpoint{Addr: "127.0.0.1:" + port, Password: "sw0rdfish"}
	redistest.Serve(t, "tcp", at.Addr, "--port", port, "--requirepass", at.Password)
	a := wiring.AdminAt(at)
	defer a.Close()
	if err := a.Set(t.Context(), "theirs", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	given := config.Config{Redis: []string{"redis://:sw0rdfish@" + at.Addr}, Prefix: "app-bench:"}
	given.HidePasswords()
	if strings.Contains(given.Redis[0], at.Password) {
		t.Error("the setting shows the password")
	}
	if err := (measure.Config{Given: given}).Validate(); err != nil {
		t.Fatal(err)
	}
	silent := func(string) {}
	r, err := bench.Run(t.Context(), bench.Config{
		Servers: measure.Config{Given: given}, Catalogue: catalogue.Builtin(), Nodes: []int{1}, Workers: []int{2}, Repeats: 1, Slice: 30 * time.Millisecond, Seed: 1, Progress: silent,
		Locks: []string{"single", "redislock"}, Scenarios: []string{"contended"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", r); strings.Contains(text, at.Password) {
		t.Error("the report holds the password")
	}
	_, err = capacity.Run(t.Context(), capacity.Config{
		Servers: measure.Config{Given: given}, Catalogue: catalogue.Builtin(), Lock: "single", Masters: 1, SLO: []string{"acquire.p99<5s"}, Clients: 2, Keys: 4, TTL: time.Second,
		Repeats: 2, Step: 50 * time.Millisecond, MaxRate: 200, MaxLag: time.Minute, Outage: 100 * time.Millisecond, Budget: time.Minute, Seed: 1, Progress: silent,
	})
	if err != nil {
		t.Fatal(err)
	}
	if left := redistest.KeysAt(t, at); !slices.Equal(left, []string{"theirs"}) {
		t.Errorf("left: %v", left)
	}
	given.Prefix = "theirs"
	if s, err := measure.Start(t.Context(), measure.Config{Given: given}); err == nil {
		t.Error("a prefix that is in use was taken", s.Close(t.Context()))
	}
}
