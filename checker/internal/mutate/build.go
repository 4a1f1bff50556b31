package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A workshop builds the test binary of one package from changed sources, of its own or
// of another package that it uses.
type workshop struct {
	tests   string            // the package whose tests must notice, as go build names it
	home    string            // the folder of those
	dir     string            // of the package whose sources are changed
	name    string            // its package clause
	scratch string            // where overlays and binaries go
	sources map[string][]byte // by base name
	known   map[string]bool   // the names of all mutants of these sources

	flags []string      // that its test binary is called with
	quick time.Duration // tests that take longer are left out; 0 leaves out none

	all    string  // the binary that all mutants are woven into
	sites  int     // one more than its highest site
	probes []probe // its tests, the cheapest first
}

// compile builds the package's tests with some files replaced.
func (w *workshop) compile(ctx context.Context, files map[string]string, binary string) (string, error) {
	replace := map[string]string{}
	for file, text := range files {
		changed := filepath.Join(w.scratch, binary+"."+file)
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(w.dir, file)] = changed
	}
	overlay := filepath.Join(w.scratch, binary+".json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", err
	}
	out := filepath.Join(w.scratch, binary)
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-gcflags=-e", "-o", out, w.tests)
	said, err := cmd.CombinedOutput()
	if err != nil {
		return string(said), fmt.Errorf("go test -c: %w", err)
	}
	return out, nil
}

var (
	complaint = regexp.MustCompile(`(?m)([\w.]+\.go):(\d+)(?::\d+)?: `) // no column where it lies far to the right
	marker    = regexp.MustCompile(`mutant(?:At|ID|Asleep|Sum|Product|Extremum)\((\d+)`)
)

// woven is what precedes the names of woven files.
const woven = "all."

// buildAll weaves all mutants that are chosen at run time into one binary. An
// integer that the compiler wants to know gets a build of its own; what it does not
// take at all (a sum of texts has no difference) is left out.
func (w *workshop) buildAll(ctx context.Context, mutants []*mutant) (fit []*mutant, err error) {
	for {
		files := w.weaveAll(mutants)
		said, err := w.compile(ctx, files, strings.TrimSuffix(woven, "."))
		if err == nil {
			w.all = said
			return mutants, nil
		}
		unfit := refused(said, files)
		if len(unfit) == 0 || ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err(), errors.New(said))
		}
		mutants = sortOut(mutants, unfit)
	}
}

// weaveAll is the sources with the mutants in them, by base name.
func (w *workshop) weaveAll(mutants []*mutant) map[string]string {
	w.sites = 1
	for _, m := range mutants {
		w.sites = max(w.sites, m.id+1)
	}
	files := map[string]string{"mutants_woven_in.go": fmt.Sprintf(switchboard, w.name, w.sites)}
	for file, source := range w.sources {
		var here []*mutant
		for _, m := range mutants {
			if m.file == file && !m.alone {
				here = append(here, m)
			}
		}
		if len(here) > 0 {
			files[file] = weave(source, here)
		}
	}
	return files
}

// sortOut gives unfit integers a build of their own, and drops other unfit mutants
// when there are no such integers: their neighbours may have been at fault.
func sortOut(mutants []*mutant, unfit map[int]bool) []*mutant {
	integers := false
	for _, m := range mutants {
		if unfit[m.id] && m.kind == literal {
			m.alone, integers = true, true
		}
	}
	if integers {
		return mutants
	}
	return slices.DeleteFunc(mutants, func(m *mutant) bool { return unfit[m.id] })
}

// refused returns the numbers of the mutants on the lines that the compiler
// complains about, or on the nearest line above with any.
func refused(said string, files map[string]string) map[int]bool {
	unfit := map[int]bool{}
	for _, c := range complaint.FindAllStringSubmatch(said, -1) {
		lines := strings.Split(files[strings.TrimPrefix(c[1], woven)], "\n")
		at, _ := strconv.Atoi(c[2])
		for i := min(at, len(lines)) - 1; i >= 0; i-- {
			marks := marker.FindAllStringSubmatch(lines[i], -1)
			for _, m := range marks {
				id, _ := strconv.Atoi(m[1])
				unfit[id] = true
			}
			if len(marks) > 0 {
				break
			}
		}
	}
	return unfit
}

// buildOne builds a mutant of its own.
func (w *workshop) buildOne(ctx context.Context, m *mutant) (string, error) {
	source := w.sources[m.file]
	text := string(source[:m.from]) + m.after + string(source[m.to:])
	return w.compile(ctx, map[string]string{m.file: text}, "one")
}
