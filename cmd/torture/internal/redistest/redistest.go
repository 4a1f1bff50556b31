// Package redistest starts real Redis servers for tests, as somebody else would
// run them.
package redistest

import (
	"os"
	"os/exec"
	"testing"

	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed"
)

// Start starts n masters, which end with the test. Where there is no
// redis-server the test is skipped, or fails when nothing may be skipped
// (LOCKTORTURE_REQUIRE_ALL=1).
func Start(t testing.TB, n int) []testbed.Node {
	t.Helper()
	RequireServer(t)
	bed, err := testbed.StartProcess(t.Context(), testbed.ProcessConfig{Nodes: n})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bed.Close() })
	return bed.Nodes()
}

// RequireServer skips a test where there is no redis-server, or fails it when nothing
// may be skipped (LOCKTORTURE_REQUIRE_ALL=1).
func RequireServer(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		Missing(t, err)
	}
}

// Missing skips a test for want of something that this machine may lack, or fails it
// when nothing may be skipped (LOCKTORTURE_REQUIRE_ALL=1).
func Missing(t testing.TB, why error) {
	t.Helper()
	if os.Getenv("LOCKTORTURE_REQUIRE_ALL") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// Addrs are the servers' addresses.
func Addrs(nodes []testbed.Node) (out []string) {
	for _, n := range nodes {
		out = append(out, n.Addr())
	}
	return out
}

// Keys lists the keys on all servers.
func Keys(t testing.TB, nodes []testbed.Node) (all []string) {
	t.Helper()
	for _, n := range nodes {
		a := wiring.Admin(n)
		keys, err := a.Keys(t.Context(), "*").Result()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, keys...)
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
