package simulate

import (
	"slices"
	"strconv"
	"strings"
)

// canonical replaces in a text what is drawn anew in each round: long words by the number
// of their first mention, and long numbers by their rank among all long numbers.
func canonical(text string) string {
	const longNumber, longWord = 9, 16
	var numbers []string
	pieces := words(text)
	for _, p := range pieces {
		if isNumber(p) && len(p) >= longNumber {
			numbers = append(numbers, p)
		}
	}
	slices.SortFunc(numbers, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	numbers = slices.Compact(numbers)
	rank := make(map[string]int, len(numbers))
	for i, n := range numbers {
		rank[n] = i
	}
	known := map[string]int{}
	var b strings.Builder
	b.Grow(len(text))
	for _, p := range pieces {
		switch {
		case isNumber(p) && len(p) >= longNumber:
			b.WriteString("#" + strconv.Itoa(rank[p]))
		case len(p) >= longWord && isWord(p[0]):
			n, ok := known[p]
			if !ok {
				n = len(known)
				known[p] = n
			}
			b.WriteString("@" + strconv.Itoa(n))
		default:
			b.WriteString(p)
		}
	}
	return b.String()
}

// words cuts a text into runs of letters and digits, and what is between them.
func words(text string) (all []string) {
	from := 0
	for i := 1; i <= len(text); i++ {
		if i == len(text) || isWord(text[i]) != isWord(text[i-1]) {
			all = append(all, text[from:i])
			from = i
		}
	}
	return all
}

func isWord(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isNumber(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}
