package config

import (
	"maps"
	"slices"

	"locktorture/faults"
)

func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// DidYouMean returns `; did you mean "x"?` for the nearest of known, or
// nothing when none is near.
func DidYouMean(word string, known []string) string {
	best := faults.Nearest(word, known)
	if best == "" {
		return ""
	}
	return `; did you mean "` + best + `"?`
}
