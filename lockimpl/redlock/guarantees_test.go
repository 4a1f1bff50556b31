package redlock_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// guarantees is the part of the package documentation that names its proofs.
func guarantees(t *testing.T) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(file.Doc.Text(), "# What is guaranteed\n")
	table, _, ok2 := strings.Cut(after, "\n# ")
	if !ok || !ok2 {
		t.Fatal("the package documentation has no section “What is guaranteed”")
	}
	return table
}

// homes returns the packages of the tests of this lock, of what it is made of and of
// its mutants, by the names of the tests.
func homes(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, home := range []string{"redlock", "redlock/internal/node", "redlock/internal/script", "redlock/internal/waiting", "mutants"} {
		files, err := filepath.Glob("../" + home + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
					all[f.Name.Name] = home
				}
			}
		}
	}
	return all
}

// documented returns the tests that the documentation names for each cell: for
// "2M" those after "M:" in the list's entry for row 2.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	table := guarantees(t)
	name, all := regexp.MustCompile(`\bTest\w+`), map[string][]string{}
	for _, row := range regexp.MustCompile(`(?m)^\t ?(\d+[ab]?)  \S`).FindAllStringSubmatch(table, -1) {
		for _, column := range []string{"M", "T", "L"} {
			all[row[1]+column] = nil
		}
	}
	if len(all) < 3*10 {
		t.Fatalf("%d cells in the table, want at least 30", len(all))
	}
	for _, entry := range regexp.MustCompile(`(?m)^  - (\d+[ab]?) ((?:.|\n    )+)`).FindAllStringSubmatch(table, -1) {
		for _, part := range strings.Split(entry[2], ";") {
			column, tests, _ := strings.Cut(strings.TrimSpace(part), ":")
			for c := range strings.FieldsSeq(strings.ReplaceAll(column, ",", " ")) {
				if _, ok := all[entry[1]+c]; !ok {
					t.Errorf("row %s, %q: the table has no such cell", entry[1], c)
				}
				all[entry[1]+c] = append(all[entry[1]+c], name.FindAllString(tests, -1)...)
			}
		}
	}
	return all
}

// Every cell of the table of guarantees names tests, of which at least one is
// tied to it: it fails when the cell is untrue.
func TestEveryGuaranteeIsTiedToATest(t *testing.T) {
	exists, tied, claims := homes(t), map[string]bool{}, documented(t)
	for _, c := range cells {
		id, test := c.row+c.column, strings.Split(c.test, "/")[0]
		if !slices.Contains(claims[id], test) {
			t.Errorf("cell %s: the table does not name %s", id, test)
		}
		tied[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(claims)) {
		if !tied[id] {
			t.Errorf("cell %s is tied to no test", id)
		}
		for _, test := range claims[id] {
			if exists[test] == "" {
				t.Errorf("cell %s: %s does not exist", id, test)
			}
		}
	}
}

// bent builds the tests of packages with the lock that each cell can make untrue, and
// returns the programs by the names of the packages.
func bent(t *testing.T, overlay string, homes []string) (binaries map[string]string) {
	t.Helper()
	dir, binaries := t.TempDir(), map[string]string{}
	args := []string{"test", "-c", "-ldflags=-w", "-overlay", overlay, "-o", dir + string(filepath.Separator)}
	for _, home := range homes {
		args = append(args, "./"+home)
		binaries[home] = filepath.Join(dir, filepath.Base(home)+".test")
	}
	build := exec.Command("go", args...)
	build.Dir = ".."
	build.Env = append(os.Environ(), "GOFLAGS=") // whatever the tests run with: once is enough
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the tests of %v: %v\n%s", homes, err, out)
	}
	return binaries
}

// bend writes the sources with all edits, and says where in an overlay.
func bend(t *testing.T) (overlay string) {
	t.Helper()
	dir, root := t.TempDir(), absolute(t, "..")
	sources, bends := maps.Clone(helpers), map[string][][3]string{}
	done := map[edit]bool{}
	for _, c := range slices.Concat([]cell{{edits: []edit{bending}}}, cells, holes) {
		for _, e := range c.edits {
			script, isScript := strings.CutSuffix(filepath.Base(e.file), ".lua")
			if isScript {
				mustHold(t, e, read(t, filepath.Join(root, e.file)), 0)
				bends[c.row+c.column] = append(bends[c.row+c.column], [3]string{script, e.old, e.new})
			} else if !done[e] {
				if sources[e.file] == "" {
					sources[e.file] = read(t, filepath.Join(root, e.file))
				}
				mustHold(t, e, sources[e.file], 1)
				sources[e.file], done[e] = strings.Replace(sources[e.file], e.old, e.new, 1), true
			}
		}
	}
	sources["redlock/internal/script/untrue.go"] += "\nvar bends = " + fmt.Sprintf("%#v", bends) + "\n"
	replace := map[string]string{}
	for name, text := range sources {
		to := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		write(t, to, text)
		replace[filepath.Join(root, filepath.FromSlash(name))] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	write(t, overlay, string(text))
	return overlay
}

// mustHold fails when a source does not hold the text that is to be replaced, as
// often as wanted; 0 is any number of times.
func mustHold(t *testing.T, e edit, text string, times int) {
	t.Helper()
	if n := strings.Count(text, e.old); n == 0 || times > 0 && n != times {
		t.Fatalf("%s holds %d times what is to be replaced: mend the edit in cells_test.go\n%s", e.file, n, e.old)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// try runs one test with the lock of which that cell is untrue ("" is none).
func try(ctx context.Context, binary, home, test, untrue string) (out string, failed bool) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	pattern := "^" + strings.ReplaceAll(test, "/", "$/") + "$"
	run := exec.CommandContext(ctx, binary, "-test.run", pattern, "-test.timeout", "4m", "-test.v")
	run.Dir, run.Env = filepath.Join("..", home), append(os.Environ(), "REDLOCK_UNTRUE="+untrue)
	said, err := run.CombinedOutput()
	out = string(said)
	if err != nil {
		out += "\n" + err.Error()
	}
	return out, strings.Contains(out, "--- FAIL: "+test) || strings.Contains(out, "\npanic: ")
}

// An outcome is what a test came to in a process of its own, once that has ended.
type outcome struct {
	done   chan struct{}
	out    string
	failed bool
}

// tries runs tests in processes of their own, several at once, since they wait most of the
// time: each of them once with the lock as it is, and once for each thing that is untrue.
type tries struct {
	slots chan struct{}
	known map[[2]string]*outcome // by test, and what is untrue
}

const triesAtOnce = 6

func (r *tries) start(t *testing.T, binary, home, test, untrue string) {
	id := [2]string{test, untrue}
	if r.known[id] != nil {
		return
	}
	o := &outcome{done: make(chan struct{})}
	r.known[id] = o
	go func() {
		defer close(o.done)
		r.slots <- struct{}{}
		defer func() { <-r.slots }()
		o.out, o.failed = try(t.Context(), binary, home, test, untrue)
	}()
}

// of waits for an outcome.
func (r *tries) of(t *testing.T, test, untrue string) (out string, failed bool) {
	t.Helper()
	o := r.known[[2]string{test, untrue}]
	<-o.done
	if ran := strings.Contains(o.out, "=== RUN   "+test); !ran || strings.Contains(o.out, "--- SKIP: "+test) {
		t.Fatalf("%s did not run\n%s", test, o.out)
	}
	return o.out, o.failed
}

// The test that a cell names fails when the cell is untrue, and does not
// otherwise; and so does the test that a hole names when the hole is back.
func TestEveryGuaranteeFailsWhenItIsUntrue(t *testing.T) {
	needServer(t)
	overlay, where := bend(t), homes(t)
	r := tries{slots: make(chan struct{}, triesAtOnce), known: map[[2]string]*outcome{}}
	home := func(c cell) string { return where[strings.Split(c.test, "/")[0]] }
	wanted, needed := flag.Lookup("test.run").Value.String(), map[string]bool{}
	all := slices.DeleteFunc(slices.Concat(cells, holes), func(c cell) bool { return !isWanted(wanted, t.Name(), c.row+c.column) })
	for _, c := range all {
		needed[home(c)] = true
	}
	binaries := bent(t, overlay, slices.Sorted(maps.Keys(needed)))
	for _, c := range all {
		r.start(t, binaries[home(c)], home(c), c.test, "")
		r.start(t, binaries[home(c)], home(c), c.test, c.row+c.column)
	}
	for _, c := range all {
		id := c.row + c.column
		t.Run(id, func(t *testing.T) {
			if out, failed := r.of(t, c.test, ""); failed {
				t.Errorf("%s fails with the lock as it is\n%s", c.test, out)
			}
			out, failed := r.of(t, c.test, id)
			if !failed {
				t.Fatalf("%s does not notice that %s\n%s", c.test, c.untrue, out)
			}
			t.Logf("%s: %s notices that %s", id, c.test, c.untrue)
		})
	}
}

// isWanted reports whether -run asks for a subtest, so that no other is played.
func isWanted(run, test, sub string) bool {
	_, pattern, given := strings.Cut(run, "/")
	if !given || !strings.HasPrefix(strings.TrimPrefix(run, "^"), test) {
		return true
	}
	ok, err := regexp.MatchString(pattern, strings.ReplaceAll(sub, " ", "_"))
	return err != nil || ok
}

// README.md names every hole that was closed, with the test that fails when it is
// back.
func TestEveryClosedHoleIsListed(t *testing.T) {
	exists, list := homes(t), read(t, "README.md")
	numbers := map[string]bool{}
	for _, c := range holes {
		numbers[c.row] = true
		if exists[c.test] == "" {
			t.Errorf("%s: %s does not exist", c.row, c.test)
		}
		if !regexp.MustCompile(`(?m)^\| ` + c.row + ` \|.*` + c.test + `\b`).MatchString(list) {
			t.Errorf("%s: README.md does not name %s", c.row, c.test)
		}
	}
	if len(numbers) != 94+25 {
		t.Errorf("%d holes and mutations, want 94 and 25", len(numbers))
	}
}
