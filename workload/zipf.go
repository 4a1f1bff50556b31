package workload

import (
	"math"
	"math/rand/v2"
	"sync"
)

// A zipf draws ranks below n, the k-th (from 1) in proportion to k to the power of −s,
// for exponents s between 0 and 1, for which math/rand has no generator.
// Source: J. Gray et al., Quickly Generating Billion-Record Synthetic Databases,
// SIGMOD 1994; the key choice of YCSB.
type zipf struct {
	n                  float64
	alpha, zetan, half float64
	eta                float64
}

// zetas remembers sums, which every client of a load needs alike.
var zetas sync.Map // of [2]float64{n, s} to float64

// zeta is the sum of k to the power of −s for k up to n.
func zeta(n int, s float64) float64 {
	id := [2]float64{float64(n), s}
	if known, ok := zetas.Load(id); ok {
		return known.(float64)
	}
	sum := 0.0
	for k := 1; k <= n; k++ {
		sum += math.Pow(float64(k), -s)
	}
	zetas.Store(id, sum)
	return sum
}

func newZipf(n int, s float64) zipf {
	z := zipf{n: float64(n), alpha: 1 / (1 - s), zetan: zeta(n, s), half: math.Pow(0.5, s)}
	z.eta = (1 - math.Pow(2/z.n, 1-s)) / (1 - (1+z.half)/z.zetan)
	return z
}

// draw returns a rank, counted from 0.
func (z zipf) draw(rng *rand.Rand) int {
	u := rng.Float64()
	switch uz := u * z.zetan; {
	case uz < 1:
		return 0
	case uz < 1+z.half:
		return min(1, int(z.n)-1)
	}
	return min(int(z.n*math.Pow(z.eta*u-z.eta+1, z.alpha)), int(z.n)-1)
}
