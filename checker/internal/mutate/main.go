// Command mutate breaks the rules of the judge, one place after the other, and
// runs the package's tests against each: a mutant that passes them all shows what
// no test holds. It exits with 1 when one survives that is not listed, with the
// reason, among the accepted ones.
//
// Comparisons, conditions, arithmetic, min and max, flags, integers and statements
// are woven into one test binary in which an environment variable chooses the mutant
// that is alive, so that a mutant costs a run and no build. Integers that the compiler
// wants to know (declared windows and limits) are built one by one. Each test is run
// alone first, without a mutant: what it costs, and which places it comes by. A mutant
// is tried with the tests that come by its place, the cheapest first, until one fails.
//
// A mutant that never ends is killed when it has used up processor time, which does
// not depend on who else uses the machine. One that waits counts as killed only when
// its tests, run again without it, are through in a tenth of the time; else, and when
// somebody else has ended its run, it is undecided, and the exit code is 3 when there
// is nothing worse.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

type config struct {
	pkg      string
	tests    string // the package whose tests must notice; pkg itself when empty
	accepted string
	only     string // comma-separated base names; all when empty
	without  string // comma-separated base names
	again    string // file with the output of another run: only what it names is tried; "" is all
	lines    string // comma-separated file:from-to, the only lines to break; all when empty
	budget   time.Duration
	seed     uint64 // of the order in which a budget is spent
	quick    time.Duration
	flags    string // of the test binary, with spaces between
	jobs     int
	list     bool
}

func main() {
	var c config
	flag.StringVar(&c.pkg, "package", "./checker", "the package whose code is broken")
	flag.StringVar(&c.tests, "tests", "", "the package whose tests must notice; the broken one when empty")
	flag.StringVar(&c.accepted, "accepted", "checker/internal/mutate/accepted.txt", "file of the mutants that may survive, with reasons")
	flag.StringVar(&c.only, "only", "", "comma-separated names of files, tried in this order; all of the package when empty")
	flag.StringVar(&c.without, "without", "", "comma-separated names of files to leave alone")
	flag.StringVar(&c.again, "again", "", "a file with the output of another run: try only the mutants that it names")
	flag.StringVar(&c.lines, "lines", "", "comma-separated file.go:12-30, the only lines to break; all when empty")
	flag.DurationVar(&c.budget, "budget", 0, "stop after this time; 0 tries the whole table")
	flag.Uint64Var(&c.seed, "seed", 1, "with -budget: draws the order in which mutants are tried; another number tries others first")
	flag.DurationVar(&c.quick, "quick", 0, "leave out tests that take more processor time than this; 0 leaves out none")
	flag.StringVar(&c.flags, "flags", "", "flags that the test binary is called with, such as -rapid.seed=1")
	flag.IntVar(&c.jobs, "jobs", runtime.GOMAXPROCS(0), "how many mutants are tried at a time")
	flag.BoolVar(&c.list, "list", false, "list the mutants and try none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := run(ctx, c)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		code = 70
	}
	os.Exit(code)
}

func run(ctx context.Context, c config) (int, error) {
	reasons, err := accepted(c.accepted)
	if err != nil {
		return 0, err
	}
	w, mutants, err := open(c)
	if err != nil {
		return 0, err
	}
	if c.list {
		for _, m := range mutants {
			fmt.Printf("%d %s\n", m.line, m.name())
		}
		return 0, nil
	}
	defer os.RemoveAll(w.scratch)
	if unknown := w.unknown(reasons, c); len(unknown) > 0 {
		return 0, fmt.Errorf("%s lists what is no mutant of the package: %q", c.accepted, unknown)
	}
	if c.budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.budget)
		defer cancel()
	}
	return w.campaign(ctx, c, mutants, reasons)
}

// open reads the package's sources and finds the mutants.
func open(c config) (*workshop, []*mutant, error) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}\n{{.Name}}\n{{join .GoFiles \"\\n\"}}", c.pkg).Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list %s: %w", c.pkg, err)
	}
	listed := strings.Fields(string(out))
	spans, err := parseSpans(c.lines)
	if err != nil {
		return nil, nil, err
	}
	tests := cmp.Or(c.tests, c.pkg)
	home, err := exec.Command("go", "list", "-f", "{{.Dir}}", tests).Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list %s: %w", tests, err)
	}
	w := &workshop{
		tests: tests, home: strings.TrimSpace(string(home)), dir: listed[0], name: listed[1], sources: map[string][]byte{}, known: map[string]bool{},
		flags: strings.Fields(c.flags), quick: c.quick,
	}
	var mutants []*mutant
	files := listed[2:]
	if c.only != "" { // in the order asked for
		files = slices.DeleteFunc(strings.Split(c.only, ","), func(file string) bool { return !slices.Contains(files, file) })
	}
	for _, file := range files {
		if slices.Contains(strings.Split(c.without, ","), file) {
			continue
		}
		source, err := os.ReadFile(filepath.Join(w.dir, file))
		if err != nil {
			return nil, nil, err
		}
		found, err := find(file, source)
		if err != nil {
			return nil, nil, err
		}
		w.sources[file] = source
		mutants = append(mutants, found...)
	}
	for _, m := range mutants {
		w.known[m.name()] = true
	}
	again, err := named(c.again)
	if err != nil {
		return nil, nil, err
	}
	mutants = slices.DeleteFunc(mutants, func(m *mutant) bool {
		return !within(spans, m) || c.again != "" && !again[m.name()]
	})
	for i, m := range mutants {
		m.id = i + 1
	}
	w.scratch, err = os.MkdirTemp("", "mutate")
	return w, mutants, err
}
