package capacity

import (
	"testing"
	"time"
)

// The lease covers the worst of the repeats, of which no interval is told; repeats
// without a tail are left out.
func TestCover(t *testing.T) {
	usual := Tail{Hold: 100 * time.Millisecond, Acquire: 10 * time.Millisecond, Pause: 50 * time.Millisecond, Holds: 500, Acquires: 500}
	bad, thin := usual, usual
	bad.Pause, thin.Holds, thin.Pause = 200*time.Millisecond, fewest-1, time.Minute
	for name, c := range map[string]struct {
		tails []Tail
		n     int
		ttl   time.Duration // before what the drift allowance takes
	}{
		"all alike":      {[]Tail{usual, usual, usual}, 3, 3 * 60 * time.Millisecond},
		"one is worse":   {[]Tail{usual, bad, usual}, 3, 3 * 210 * time.Millisecond},
		"one is thin":    {[]Tail{usual, thin, usual}, 2, 3 * 60 * time.Millisecond},
		"only one tail":  {[]Tail{usual, thin}, 0, 0},
		"nothing at all": {nil, 0, 0},
	} {
		l := Cover(c.tails)
		if c.n == 0 {
			if l.TTL.Known() || l.TTL.Suppressed == "" {
				t.Errorf("%s: %+v, want it suppressed", name, l.TTL)
			}
			continue
		}
		with := func(d time.Duration) float64 { return d.Seconds()/0.99 + 0.002 }
		near(t, name, l.TTL.Value, with(c.ttl), 1e-9)
		if l.TTL.N != c.n || l.TTL.Confidence != 0 {
			t.Errorf("%s: %+v, want the highest of %d repeats, without an interval", name, l.TTL, c.n)
		}
	}
	held := Cover([]Tail{{Hold: 5 * time.Second, Holds: 500, Acquires: 500}, {Hold: 4 * time.Second, Holds: 500, Acquires: 500}})
	near(t, "ttl for a hold of 5 s without pauses", held.TTL.Value, 5/0.99+0.002, 1e-9)
}
