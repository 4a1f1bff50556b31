package words

import (
	"fmt"
	"slices"
	"time"
)

// At writes an instant of the history, in seconds since the run began.
func At(t time.Duration) string { return fmt.Sprintf("%.6f s", t.Seconds()) }

// Span writes a length of time to three digits or so.
func Span(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Microsecond).String()
	}
	return d.String()
}

// Owners lists the owners of a finding, each once.
func Owners(names ...string) []string {
	var out []string
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func Token(f uint64) string {
	if f == 0 {
		return ""
	}
	return fmt.Sprintf(" with token %d", f)
}

func Number(seq uint64) string {
	if seq == 0 {
		return ""
	}
	return fmt.Sprintf(" (write number %d)", seq)
}

// Thousands writes a number with a comma before every three digits.
func Thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
