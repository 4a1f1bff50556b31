package config

import (
	"maps"
	"slices"
)

func keysOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// DidYouMean returns `; did you mean "x"?` for the nearest of known, or
// nothing when none is near.
func DidYouMean(word string, known []string) string {
	best, nearest := "", len(word)/2+1
	for _, k := range known {
		if d := distance(word, k); d < nearest {
			best, nearest = k, d
		}
	}
	if best == "" {
		return ""
	}
	return `; did you mean "` + best + `"?`
}

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(row[j]+1, row[j-1]+1, cost)
		}
	}
	return row[len(b)]
}
