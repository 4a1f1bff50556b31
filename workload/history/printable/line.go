// Package printable shows texts that came from outside: from a history, a
// child process or a server. Shown, a text stays within its line, moves no
// cursor, turns no reading direction round, says nothing in the name of the
// tool, and is of bounded length.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"locktorture/workload/history"
)

// What a line shows at most, in bytes: of a stretch without a space, and of all.
const (
	maxWord = 512
	maxLine = 8192
)

// Line returns s as one line of text. What cannot be printed is written as Go
// writes it (\n, \x1b, \u202e, \xff for a byte that is no UTF-8); what is too
// long is cut, with its length; and a word with which only the tool's own lines
// begin (VERDICT, and GitHub's commands) has its first letter escaped. A text
// that is fit to print is returned as it is, so Line(Line(s)) is Line(s).
func Line(s string) string {
	if fit(s) {
		return s
	}
	return cut(speechless(escape(s)))
}

// Lines is Line for each line of a text that has several by right.
func Lines(s string) string {
	all := strings.Split(s, "\n")
	for i := range all {
		all[i] = Line(all[i])
	}
	return strings.Join(all, "\n")
}

func fit(s string) bool {
	if len(s) > maxWord || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !printable(r) {
			return false
		}
	}
	return speechless(s) == s
}

// printable reports whether r is shown as what it is. Marks without a shape of
// their own (category Cf: directions, joiners, tags) are not.
func printable(r rune) bool { return unicode.IsGraphic(r) }

func escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case printable(r):
			b.WriteRune(r)
		default:
			b.WriteString(escaped(r))
		}
		i += size
	}
	return b.String()
}

func escaped(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// speechless escapes the beginning of each word with which a line would speak
// for the tool, should the text be broken into lines there, or to the runner of
// GitHub, which takes "::" at the beginning of a line and "##[" anywhere.
func speechless(s string) string {
	if !strings.Contains(s, "VERDICT") && !strings.Contains(s, "::") && !strings.Contains(s, "##[") {
		return s
	}
	s = strings.ReplaceAll(s, "##[", `\x23#[`)
	var b strings.Builder
	begins := true
	for i, r := range s {
		rest := s[i:]
		switch {
		case begins && strings.HasPrefix(rest, "VERDICT"):
			b.WriteString(`\x56`)
		case begins && strings.HasPrefix(rest, "::"):
			b.WriteString(`\x3a`)
		default:
			b.WriteRune(r)
		}
		begins = unicode.IsSpace(r)
	}
	return b.String()
}

// cut shortens each word, and then the whole.
func cut(s string) string {
	if len(s) <= maxWord {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 {
			end = len(s)
		}
		b.WriteString(shorten(s[:end], maxWord, ""))
		_, size := utf8.DecodeRuneInString(s[end:])
		b.WriteString(s[end : end+size])
		s = s[end+size:]
	}
	return shorten(b.String(), maxLine, " ")
}

// shorten cuts s to at most most bytes and says how long it was; before parts the
// two.
func shorten(s string, most int, before string) string {
	return history.Cut(s, most, fmt.Sprintf("%s…(%d_bytes)", before, len(s)))
}
