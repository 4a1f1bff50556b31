package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// A span is some lines of a file.
type span struct {
	file     string
	from, to int
}

// parseSpans reads file.go:12-30,other.go:4-4.
func parseSpans(text string) ([]span, error) {
	var spans []span
	for _, word := range strings.Split(text, ",") {
		if word == "" {
			continue
		}
		file, numbers, _ := strings.Cut(word, ":")
		s := span{file: file}
		if n, err := fmt.Sscanf(numbers, "%d-%d", &s.from, &s.to); n != 2 || err != nil {
			return nil, fmt.Errorf("-lines %q: write file.go:12-30", word)
		}
		spans = append(spans, s)
	}
	return spans, nil
}

// within reports whether m is on one of the spans, or there are none.
func within(spans []span, m *mutant) bool {
	return len(spans) == 0 || slices.ContainsFunc(spans, func(s span) bool { return s.file == m.file && s.from <= m.line && m.line <= s.to })
}

// named are the lines of the output of another run, among them the names of the
// mutants that stood out.
func named(file string) (map[string]bool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	lines := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		lines[strings.TrimSpace(line)] = true
	}
	return lines, nil
}
