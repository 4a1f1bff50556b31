package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
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

// tiny writes a module with one package and a test with holes.
func tiny(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module tiny\n\ngo 1.25\n", "rules.go": rules, "rules_test.go": holes} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("GOFLAGS", "")
}

// TestCampaign breaks a package whose test has holes: what the test reaches is
// killed, what it does not reach survives, and a sum of texts is no mutant.
func TestCampaign(t *testing.T) {
	tiny(t)
	w, mutants, err := open(config{pkg: "."})
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(w.scratch)
	together, alone := split(mutants)
	all, fit, err := w.buildAll(t.Context(), together)
	if err != nil {
		t.Fatal(err)
	}
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
		"rules.go TooMany: 50 => 51":                                        survived,
	} {
		i := slices.IndexFunc(slices.Concat(fit, alone), func(m *mutant) bool { return m.name() == name })
		if i < 0 {
			t.Errorf("%s is not in the table", name)
			continue
		}
		if got, err := w.try(t.Context(), all, slices.Concat(fit, alone)[i], time.Minute); got != want || err != nil {
			t.Errorf("%s: outcome %d, want %d, %v", name, got, want, err)
		}
	}
	if slices.ContainsFunc(fit, func(m *mutant) bool { return strings.HasPrefix(m.before, "name()") }) {
		t.Error("a sum of texts was made a difference")
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
	}{{survived, nil, 1}, {survived, excuse, 0}, {killed, excuse, 1}, {killed, nil, 0}, {untried, excuse, 0}} {
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
	if _, _, err := open(config{pkg: ".", lines: "rules.go"}); err == nil {
		t.Error("lines without numbers were taken")
	}
}
