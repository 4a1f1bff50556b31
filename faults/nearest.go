package faults

import (
	"fmt"
	"strings"
)

// Nearest returns the one of words that wrong was likely meant to be, or
// nothing when none is near: of a third of its letters, and one more, all
// others must be right.
func Nearest(wrong string, words []string) string {
	best, least := "", 2+len(wrong)/3
	for _, w := range words {
		if d := distance(wrong, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// Suggest names the word nearest to wrong, or all of them when none is near: the
// end of a message that wrong is unknown.
func Suggest(wrong string, words []string) string {
	if best := Nearest(wrong, words); best != "" {
		return fmt.Sprintf(": did you mean %q?", best)
	}
	return ": there are " + strings.Join(words, ", ")
}

// distance is Levenshtein's: insertions, deletions and replacements.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
