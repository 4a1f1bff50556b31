package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const rules = `package tiny

// Limit is how many are too many.
const Limit = 3

func TooMany(n int, strict bool) bool {
	if n < 0 {
		return false
	}
	for n > 100 {
		n = min(n, 50)
		if strict && n*2 == 100 || !strict {
			break
		}
	}
	text := name() + name()
	return n+len(text)-2 >= Limit
}

func name() string { return "b" }
`

const holes = `package tiny

import "testing"

func TestTooMany(t *testing.T) {
	for _, c := range []struct {
		n    int
		want bool
	}{{-1, false}, {2, false}, {3, true}, {4, true}} {
		if got := TooMany(c.n, true); got != c.want {
			t.Errorf("%d: %t", c.n, got)
		}
	}
}
`

// tiny writes a module with one package and a test with holes, and goes there.
func tiny(t *testing.T) { module(t, rules, holes) }

func module(t *testing.T, code, tests string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module tiny\n\ngo 1.25\n", "rules.go": code, "rules_test.go": tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("GOFLAGS", "")
}

// built is the workshop of the package here, with all that compiles woven in, and
// its tests tried without a mutant.
func built(t *testing.T) (*workshop, []*mutant) {
	t.Helper()
	w, mutants, err := open(config{pkg: "."})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(w.scratch) })
	table, err := w.buildAll(t.Context(), mutants)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.probeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w, table
}

func byName(t *testing.T, table []*mutant, name string) *mutant {
	t.Helper()
	i := slices.IndexFunc(table, func(m *mutant) bool { return m.name() == name })
	if i < 0 {
		t.Fatalf("%s is not in the table", name)
	}
	return table[i]
}

// TestCampaign breaks a package whose test has holes: what the test reaches is
// killed, what it does not reach survives, and a sum of texts is no mutant.
func TestCampaign(t *testing.T) {
	tiny(t)
	w, table := built(t)
	for name, want := range map[string]outcome{
		"rules.go TooMany: n+len(text)-2 >= Limit => n+len(text)-2 > Limit": killed,
		"rules.go TooMany: n+len(text)-2 => n+len(text) + 2":                killed,
		"rules.go TooMany: n < 0 => n >= 0":                                 killed,
		"rules.go TooMany: n < 0 => n <= 0":                                 survived,
		"rules.go TooMany: false => true":                                   killed,
		"rules.go TooMany: break => (nothing)":                              survived,
		"rules.go TooMany: min(n, 50) => max(n, 50)":                        survived,
		"rules.go TooMany: !strict => strict":                               survived,
		"rules.go const: 3 => 4":                                            killed,
		"rules.go const: 3 => 2":                                            killed,
		"rules.go TooMany: 50 => 51":                                        survived,
		"rules.go TooMany: 2 => 3 (2)":                                      killed,
	} {
		if got, err := w.try(t.Context(), byName(t, table, name)); got != want || err != nil {
			t.Errorf("%s: outcome %d, want %d, %v", name, got, want, err)
		}
	}
	if slices.ContainsFunc(table, func(m *mutant) bool { return strings.HasPrefix(m.before, "name()") }) {
		t.Error("a sum of texts was made a difference")
	}
	for _, m := range table {
		if m.alone != (m.in == "const") {
			t.Errorf("%s has a build of its own: %t", m.name(), m.alone)
		}
	}
}

// TestReach tries a mutant with the tests alone that come by it.
func TestReach(t *testing.T) {
	module(t, "package tiny\n\nfunc One(n int) int { return n + 1 }\n\nfunc Two(n int) int { return n + 2 }\n",
		"package tiny\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) { One(1) }\n\nfunc TestBoth(t *testing.T) { One(1); Two(1) }\n")
	w, table := built(t)
	for name, want := range map[string][]string{"rules.go One: n + 1 => n - 1": {"TestBoth", "TestOne"}, "rules.go Two: 2 => 3": {"TestBoth"}} {
		var got []string
		for _, b := range w.batches(byName(t, table, name)) {
			got = append(got, b.tests...)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s is tried with %q, want %q", name, got, want)
		}
	}
}

// TestReport holds the exit code: survivors are counted unless they are listed,
// and what is listed must survive.
func TestReport(t *testing.T) {
	m := &mutant{file: "a.go", in: "f", before: "a < b", after: "a <= b"}
	excuse := map[string]string{m.name(): "no history tells"}
	for _, c := range []struct {
		outcome outcome
		reasons map[string]string
		want    int
	}{{survived, nil, 1}, {survived, excuse, 0}, {killed, excuse, 1}, {killed, nil, 0}, {untried, excuse, 0}, {undecided, nil, 3}, {undecided, excuse, 3}} {
		if got := report([]*mutant{m}, []outcome{c.outcome}, c.reasons); got != c.want {
			t.Errorf("outcome %d with reasons %v: exit code %d, want %d", c.outcome, c.reasons, got, c.want)
		}
	}
}

func TestAccepted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "accepted")
	for text, want := range map[string]string{
		"# a comment\n\na.go f: x => y # equal, since x is y\n": "",
		"a.go f: x => y\n":                             "has no reason",
		"a.go f: x => y # \n":                          "has no reason",
		"a.go f: x => y # one\na.go f: x => y # two\n": "stands there twice",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := accepted(file)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestUnknown refuses reasons for what is no mutant any more.
func TestUnknown(t *testing.T) {
	tiny(t)
	w, _, err := open(config{pkg: "."})
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(w.scratch)
	reasons := map[string]string{"rules.go TooMany: n < 0 => n <= 0": "r", "rules.go TooMany: m < 0 => m <= 0": "r", "gone.go f: 1 => 2": "r"}
	if got, want := w.unknown(reasons, config{}), []string{"gone.go f: 1 => 2", "rules.go TooMany: m < 0 => m <= 0"}; !slices.Equal(got, want) {
		t.Errorf("unknown: %q, want %q", got, want)
	}
	if got, want := w.unknown(reasons, config{only: "rules.go"}), []string{"rules.go TooMany: m < 0 => m <= 0"}; !slices.Equal(got, want) {
		t.Errorf("unknown of one file: %q, want %q", got, want)
	}
}

func TestLines(t *testing.T) {
	tiny(t)
	_, mutants, err := open(config{pkg: ".", lines: "rules.go:7-7,rules.go:17-17"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range mutants {
		got = append(got, m.before)
	}
	if want := []string{"n < 0", "n < 0", "0", "n+len(text)-2 >= Limit", "n+len(text)-2 >= Limit", "n+len(text)-2", "n+len(text)", "2"}; !slices.Equal(got, want) {
		t.Errorf("mutants of %q, want %q", got, want)
	}
	if err := os.WriteFile("output", []byte("SURVIVED rules.go:17\n  rules.go const: 3 => 4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, mutants, err = open(config{pkg: ".", again: "output"})
	if err != nil || len(mutants) != 1 || mutants[0].name() != "rules.go const: 3 => 4" {
		t.Errorf("again: %d mutants, %v", len(mutants), err)
	}
	if _, _, err := open(config{pkg: ".", lines: "rules.go"}); err == nil {
		t.Error("lines without numbers were taken")
	}
}
