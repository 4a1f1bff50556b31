package workload

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The shares of the first keys and of the tail are those of the law.
func TestZipfFollowsItsLaw(t *testing.T) {
	const draws = 200_000
	for _, c := range []struct {
		n int
		s float64
	}{{1, 0.99}, {2, 0.5}, {64, 0.99}, {1000, 0.99}, {1000, 0.5}, {100_000, 0.8}} {
		z, rng := newZipf(c.n, c.s), rand.New(rand.NewPCG(1, 2))
		counts := make([]float64, c.n)
		for range draws {
			counts[z.draw(rng)]++
		}
		total, half, want := 0.0, 0.0, 0.0
		for k := range c.n {
			total += math.Pow(float64(k+1), -c.s)
		}
		for k := range (c.n + 1) / 2 {
			half += counts[k] / draws
			want += math.Pow(float64(k+1), -c.s) / total
		}
		if math.Abs(half-want) > 0.02 {
			t.Errorf("n = %d, s = %g: the first half of the keys gets %.3f, want %.3f", c.n, c.s, half, want)
		}
		if first := 1 / total; math.Abs(counts[0]/draws/first-1) > 0.1 && first > 0.001 {
			t.Errorf("n = %d, s = %g: the first key gets %.4f, want %.4f", c.n, c.s, counts[0]/draws, first)
		}
	}
}
