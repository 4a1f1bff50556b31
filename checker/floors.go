package checker

import (
	"maps"
	"slices"
)

// Floors returns the kinds of evidence that a header may demand, sorted.
func Floors() []string {
	kinds := append(slices.Collect(maps.Keys(new(Evidence).floors())), rateFloor)
	slices.Sort(kinds)
	return kinds
}
