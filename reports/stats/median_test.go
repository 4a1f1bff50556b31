package stats

import (
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []time.Duration
		want   time.Duration
	}{
		{[]time.Duration{7}, 7},
		{[]time.Duration{9, 1}, 5},
		{[]time.Duration{9, 1, 2}, 2},
		{[]time.Duration{4, 1, 9, 2}, 3},
	} {
		if got := Median(c.values); got != c.want || c.values[0] == 1 {
			t.Errorf("of %v: %v, want %v", c.values, got, c.want)
		}
	}
}
