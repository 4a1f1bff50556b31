package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const guide = "../../CONTRIBUTING.md"

// place is `path/to/file.go`, and `name` behind a colon: what is declared there.
var place = regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]+)+\\.(?:go|lua|md))`(?:: `(\\w+)`)?")

// What the guide names is there: files, and what it says is declared in them.
func TestGuideNamesWhatIsThere(t *testing.T) {
	named, declared := 0, 0
	for _, m := range place.FindAllStringSubmatch(read(t, guide), -1) {
		named++
		text := read(t, filepath.Join("../..", m[1]))
		if name := m[2]; name != "" {
			declared++
			if !regexp.MustCompile(`(?m)^(func |func \(\w+ [*\w]+\) |type |var |const |\t)` + name + `\b`).MatchString(text) {
				t.Errorf("%s says that %s is declared in %s", guide, name, m[1])
			}
		}
	}
	if named < 10 || declared < 4 {
		t.Errorf("%s names %d files and %d declarations: is that how they are written?", guide, named, declared)
	}
}

// The lines between which the guide's diffs add theirs stand in the files that they name, in
// that order.
func TestGuideDiffsApply(t *testing.T) {
	diffs := regexp.MustCompile("(?s)```diff\n // [^:\n]+: ([\\w./-]+)[^\n]*\n(.*?)```").FindAllStringSubmatch(read(t, guide), -1)
	if len(diffs) < 5 {
		t.Fatalf("%s has %d diffs", guide, len(diffs))
	}
	for _, d := range diffs {
		rest, added := read(t, filepath.Join("../..", d[1])), 0
		for line := range strings.Lines(d[2]) {
			switch line := strings.TrimSpace(line); {
			case strings.HasPrefix(line, "+"):
				added++
			case line != "…":
				_, after, found := strings.Cut(rest, line)
				if !found {
					t.Errorf("%s has no line %q where %s adds to it", d[1], line, guide)
				}
				rest = after
			}
		}
		if added == 0 {
			t.Errorf("the diff of %s adds nothing", d[1])
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}
