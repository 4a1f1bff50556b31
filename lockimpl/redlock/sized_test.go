package redlock

import (
	"testing"
	"time"
)

// Batches become smaller where leases had no answer in the time of one exchange, and
// grow again, slowly where little of it was left.
func TestSizeOfTheNextBatch(t *testing.T) {
	const limit = 400 * time.Millisecond
	for _, c := range []struct {
		size   int
		failed bool
		took   time.Duration
		want   int
	}{
		{64, true, limit, 32},
		{64, true, limit - 1, 73},
		{64, false, limit, 73},
		{64, false, limit / 4, 73},
		{64, false, limit/4 - 1, 128},
		{512, true, limit, 256},
		{512, false, 0, 512},
		{8, true, limit, 8},
	} {
		if got := sized(c.size, c.failed, c.took, limit); got != c.want {
			t.Errorf("after %d, failed %v, in %v: %d, want %d", c.size, c.failed, c.took, got, c.want)
		}
	}
}
