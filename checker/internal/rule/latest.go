package rule

import "slices"

// mostLatest is how many of those that a rule may need again are remembered: the latest.
const mostLatest = 64

// AppendLatest adds one to those that are remembered.
func AppendLatest[T any](latest []T, one T) []T {
	if len(latest) == mostLatest {
		latest = slices.Delete(latest, 0, 1)
	}
	return append(latest, one)
}
