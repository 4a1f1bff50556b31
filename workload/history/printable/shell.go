package printable

import "strings"

// Shell writes a word of a command so that a POSIX shell reads it as that one word: in quotes where it holds
// anything else than letters, digits and what has no meaning to a shell.
func Shell(word string) string {
	isPlain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.,:/=+@%", r)
	}
	if word != "" && strings.TrimLeftFunc(word, isPlain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
