package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
)

// accepted reads the mutants that may survive, each with the reason: lines of
//
//	file.go function: before => after # why no history can tell it
//
// Empty lines and lines that begin with # are skipped.
func accepted(file string) (map[string]string, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	reasons := map[string]string{}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		name, reason, ok := strings.Cut(text, " # ")
		switch {
		case !ok || strings.TrimSpace(reason) == "":
			return nil, fmt.Errorf("%s:%d: %q has no reason: write it behind \" # \"", file, n, text)
		case reasons[name] != "":
			return nil, fmt.Errorf("%s:%d: %q stands there twice", file, n, name)
		}
		reasons[name] = strings.TrimSpace(reason)
	}
	return reasons, lines.Err()
}

// unknown names the accepted mutants that do not exist, of the files that were read:
// the code has changed since, and the reason with it.
func (w *workshop) unknown(reasons map[string]string, c config) []string {
	var out []string
	for name := range reasons {
		file, _, _ := strings.Cut(name, " ")
		_, read := w.sources[file]
		if (read || c.only == "" && c.tests == "") && !w.known[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
