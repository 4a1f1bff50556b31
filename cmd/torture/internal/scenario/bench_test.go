package scenario

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"locktorture/faults/testbed"
)

// servers starts masters as somebody else would run them, and returns their
// addresses.
func servers(t testing.TB, n int) []testbed.Node {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("LOCKTORTURE_REQUIRE_ALL") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	bed, err := testbed.StartProcess(t.Context(), testbed.ProcessConfig{Nodes: n})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bed.Close() })
	return bed.Nodes()
}

func addrs(nodes []testbed.Node) (out []string) {
	for _, n := range nodes {
		out = append(out, n.Addr())
	}
	return out
}

// empty fails the test when a server holds any key.
func empty(t *testing.T, nodes []testbed.Node) {
	t.Helper()
	for _, n := range nodes {
		a := admin(n)
		keys, err := a.Keys(t.Context(), "*").Result()
		if err != nil || len(keys) > 0 {
			t.Errorf("%s holds %v: %v", n.Name(), keys, err)
		}
		_ = a.Close()
	}
}

// Servers of somebody else are left as they were found: without a key.
func TestMeasurementsLeaveNoKeyBehind(t *testing.T) {
	nodes := servers(t, 3)
	field := FieldConfig{Redis: addrs(nodes)}
	silent := func(string) {}
	_, err := Bench(t.Context(), BenchConfig{
		Field: field, Nodes: []int{3}, Workers: []int{2}, Repeats: 1, Slice: 30 * time.Millisecond, Seed: 1, Progress: silent,
		Locks: []string{"redlock", "redsync", "redsync-fast"}, Scenarios: []string{"uncontended", "contended", "extend"},
	})
	if err != nil {
		t.Fatal(err)
	}
	empty(t, nodes)
	_, err = Capacity(t.Context(), CapacityConfig{
		Field: field, Lock: "redlock", Masters: 3, SLO: []string{"acquire.p99<5s"}, Clients: 2, Keys: 4, TTL: time.Second,
		Repeats: 2, Step: 50 * time.Millisecond, MaxRate: 200, MaxLag: time.Minute, Outage: 100 * time.Millisecond, Budget: time.Minute, Seed: 1, Progress: silent,
	})
	if err != nil {
		t.Fatal(err)
	}
	empty(t, nodes)
}

func TestServersWithKeysAreRefused(t *testing.T) {
	nodes := servers(t, 1)
	a := admin(nodes[0])
	defer a.Close()
	if err := a.Set(t.Context(), "theirs", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if f, err := newField(t.Context(), FieldConfig{Redis: addrs(nodes)}); err == nil {
		t.Error(f.close(t.Context()))
		t.Fatal("a server with keys was accepted")
	}
	if n, err := a.Exists(t.Context(), "theirs").Result(); err != nil || n != 1 {
		t.Errorf("their key is gone: %v", err)
	}
}

func TestCommandStatistics(t *testing.T) {
	for line, want := range map[string]float64{
		"cmdstat_evalsha:calls=12,usec=480,usec_per_call=40.00": 12,
		"cmdstat_script|load:calls=2,usec=1":                    2,
		"cmdstat_client|setinfo:calls=9,usec=1":                 0,
		"cmdstat_info:calls=9,usec=1":                           0,
		"# Commandstats":                                        0,
	} {
		if got := calls(line); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}

// Goroutines are counted by whose they are, not by how many there are.
func TestCensusCountsMarkedGoroutines(t *testing.T) {
	stop := make(chan struct{})
	started := make(chan struct{}, 8)
	spawn := func() {
		for range 4 {
			go func() { started <- struct{}{}; <-stop }()
		}
	}
	spawn()
	before := marked()
	labelled(t.Context(), func(context.Context) { spawn() })
	for range 8 {
		<-started
	}
	if got := marked() - before; got != 4 {
		t.Errorf("%d marked goroutines, want 4", got)
	}
	close(stop)
}
