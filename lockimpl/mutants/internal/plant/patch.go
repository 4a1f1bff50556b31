package plant

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A hunk replaces lines of one file.
type hunk struct {
	line     int // where the old lines are expected, 1 being the first
	old, new []string
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@`)

// apply applies a unified diff to files. A hunk fits where all of its old lines
// are: at the line that it names, or as near to that as can be found.
func apply(files map[string]string, patch string) error {
	hunks, order, err := parse(patch)
	if err != nil {
		return err
	}
	for _, name := range order {
		text, err := applyTo(files[name], hunks[name])
		if err != nil {
			return fmt.Errorf("patch of %s: %w", name, err)
		}
		files[name] = text
	}
	return nil
}

// parse returns the hunks of a patch by file, and the files in their order.
func parse(patch string) (hunks map[string][]hunk, order []string, err error) {
	hunks = map[string][]hunk{}
	name, open := "", false
	for i, line := range strings.Split(strings.TrimSuffix(patch, "\n"), "\n") {
		head := hunkHead.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "diff "):
			open = false
		case !open && strings.HasPrefix(line, "+++ b/"):
			name = strings.TrimPrefix(line, "+++ b/")
			order = append(order, name)
		case head != nil && name != "":
			at, _ := strconv.Atoi(head[1])
			hunks[name] = append(hunks[name], hunk{line: at})
			open = true
		case open && line != "" && strings.ContainsRune(" +-", rune(line[0])):
			h := &hunks[name][len(hunks[name])-1]
			if line[0] != '+' {
				h.old = append(h.old, line[1:])
			}
			if line[0] != '-' {
				h.new = append(h.new, line[1:])
			}
		case open:
			return nil, nil, fmt.Errorf("line %d of the patch is neither context nor a change: %q", i+1, line)
		}
	}
	return hunks, order, nil
}

func applyTo(text string, hunks []hunk) (string, error) {
	var lines, out []string
	if text != "" {
		lines = strings.SplitAfter(text, "\n")
		lines = slices.DeleteFunc(lines, func(l string) bool { return l == "" })
	}
	done, drift := 0, 0
	for _, h := range hunks {
		at := find(lines, h.old, done, h.line-1+drift)
		if at < 0 {
			return "", fmt.Errorf("the lines of the hunk at %d are not there:\n%s", h.line, strings.Join(h.old, "\n"))
		}
		drift = at - (h.line - 1)
		out = append(out, lines[done:at]...)
		for _, line := range h.new {
			out = append(out, line+"\n")
		}
		done = at + len(h.old)
	}
	return strings.Join(append(out, lines[done:]...), ""), nil
}

// find returns the place of old in lines, not before least, that is nearest to
// want; -1 when there is none.
func find(lines, old []string, least, want int) int {
	best := -1
	for at := least; at+len(old) <= len(lines); at++ {
		fits := true
		for i := range old {
			fits = fits && lines[at+i] == old[i]+"\n"
		}
		if fits && (best < 0 || abs(at-want) < abs(best-want)) {
			best = at
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }
