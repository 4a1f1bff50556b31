package stats

import "slices"

// Median is the middle of at least one value; of an even number of them it lies halfway between the two in the
// middle.
func Median[N ~int | ~int64 | ~float64](values []N) N {
	v := slices.Sorted(slices.Values(values))
	low, high := v[(len(v)-1)/2], v[len(v)/2]
	return low + (high-low)/2
}
