package kernel

import (
	"strings"
	"testing"

	"locktorture/cmd/torture/internal/kernel/kerneltest"
)

// TestConnTrack: a run is harmed by packets that were dropped since it began, and by a
// table without a place; by nothing that was before.
func TestConnTrack(t *testing.T) {
	for _, c := range []struct {
		name                 string
		count, most, dropped int
		want                 string // in what befell the run; "" is nothing
	}{
		{"some place", 65535, 65536, 31, ""},
		{"a packet dropped", 60000, 65536, 32, "the kernel dropped 1 packets of connections that it could not track (nf_conntrack: 60000 of at most 65536)"},
		{"no place", 65536, 65536, 31, "the kernel's table of tracked connections is full (nf_conntrack: 65536 of at most 65536)"},
		{"both", 65537, 65536, 300, "dropped 269 packets"},
		{"no bound", 65536, 0, 300, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			proc := t.TempDir()
			kerneltest.WriteCounters(t, proc, 5, 65536, 31)
			net := BeginTracking(proc)
			if err := net.Look(t.Context()); err != nil {
				t.Fatalf("before: %v", err)
			}
			kerneltest.WriteCounters(t, proc, c.count, c.most, c.dropped)
			err := net.Look(t.Context())
			switch {
			case (err == nil) != (c.want == ""), err != nil && !strings.Contains(err.Error(), c.want):
				t.Errorf("said %v, want %q", err, c.want)
			case err != nil && !strings.Contains(err.Error(), "sysctl -w net.netfilter.nf_conntrack_max=262144"):
				t.Errorf("said %v, without the remedy", err)
			}
		})
	}
}

// TestConnTrackUntold: a kernel that tracks nothing harms nobody.
func TestConnTrackUntold(t *testing.T) {
	if err := BeginTracking(t.TempDir()).Look(t.Context()); err != nil {
		t.Error(err)
	}
}
