package app

import (
	"strings"
	"testing"

	"locktorture/cmd/torture/internal/kernel"
)

// TestConnections: doctor says when the kernel has no place for another connection, and
// what to do about it.
func TestConnections(t *testing.T) {
	const remedy = "sysctl -w net.netfilter.nf_conntrack_max=400"
	for _, c := range []struct {
		table      kernel.ConnTrack
		tracked    bool
		mark, says string
		remedy     bool
	}{
		{kernel.ConnTrack{}, false, "yes", "tracks none", false},
		{kernel.ConnTrack{Count: 99, Max: 100}, true, "yes", "tracks 99 of at most 100", false},
		{kernel.ConnTrack{Count: 99, Max: 100, Dropped: 7}, true, "yes", "7 packets were dropped", true},
		{kernel.ConnTrack{Count: 100, Max: 100}, true, "no", "table is full (nf_conntrack: 100 of at most 100)", true},
	} {
		got := connections(c.table, c.tracked)
		if !strings.HasPrefix(got, c.mark+"\t") || !strings.Contains(got, c.says) || strings.Contains(got, remedy) != c.remedy {
			t.Errorf("%+v: said %q", c.table, got)
		}
	}
}
