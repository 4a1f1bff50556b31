package queueing

import (
	"math"
	"math/rand/v2"
	"sort"
)

// Popularity draws keys by Zipf's law: the k-th is wanted in proportion to k to the
// power of −exponent, any exponent from 0 on; 0 makes all equal.
type Popularity struct {
	keys int
	sums []float64 // none where all are equal
}

// NewPopularity prepares to draw from so many keys.
func NewPopularity(keys int, exponent float64) Popularity {
	p, _ := Shard(keys, exponent, 1)
	return p
}

// Shard is the busiest of several that share keys out by their rank, the first to the
// first and so on, with the part of all requests that it gets.
func Shard(keys int, exponent float64, shards int) (p Popularity, share float64) {
	keys, shards = max(keys, 1), max(shards, 1)
	p.keys = (keys + shards - 1) / shards
	if exponent == 0 {
		return p, float64(p.keys) / float64(keys)
	}
	p.sums = make([]float64, 0, p.keys)
	mine, all := 0.0, 0.0
	for i := range keys {
		weight := math.Pow(float64(i+1), -exponent)
		if all += weight; i%shards == 0 {
			mine += weight
			p.sums = append(p.sums, mine)
		}
	}
	return p, mine / all
}

// Draw returns the number of a key.
func (p Popularity) Draw(rng *rand.Rand) int {
	if p.sums == nil {
		return rng.IntN(p.keys)
	}
	return sort.SearchFloat64s(p.sums, rng.Float64()*p.sums[p.keys-1])
}

// Hottest is the share of the most popular key.
func (p Popularity) Hottest() float64 {
	if p.sums == nil {
		return 1 / float64(p.keys)
	}
	return p.sums[0] / p.sums[p.keys-1]
}
