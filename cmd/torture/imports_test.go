package main_test

import (
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "locktorture/"

// mayImport lists which packages of this module a package may import. A
// package or an edge that no entry allows fails the test; the most specific
// entry counts, and "x/..." covers x and everything below it.
var mayImport = map[string][]string{
	"workload/history":     {},
	"workload/history/...": {"workload/history"},

	"workload/history/coverage": {"workload/history", "workload/history/fold"},

	"workload/store":     {"lockimpl", "workload/history"},
	"workload/load":      {"lockimpl"},
	"workload/sample":    {"workload/history", "workload/store"},
	"workload":           {"lockimpl", "workload/history", "workload/store"},
	"faults/link":        {"faults/internal/accept", "faults/internal/ports", "faults/link/internal/..."},
	"faults/link/...":    {},
	"faults/testbed":     {"faults/testbed/server", "faults/testbed/internal/...", "faults/internal/ports"},
	"faults/testbed/...": {"faults/testbed", "faults/testbed/memredis", "faults/link"},

	"faults/testbed/server":       {"faults/internal/accept"},
	"faults/testbed/internal/...": {},

	"faults/internal/...": {},
	"faults/watch":        {"workload/history", "workload/history/fold"},
	"faults/resolve":      {"faults/link", "workload/history"},
	"faults":              {"faults/testbed", "faults/link", "faults/watch", "faults/internal/...", "workload/history"},
	"faults/catalogue":    {"faults", "faults/testbed", "faults/link", "faults/link/gate", "faults/watch", "faults/internal/...", "workload/history"},
	"faults/plan":         {"faults", "faults/catalogue", "faults/testbed", "faults/link", "faults/watch", "faults/internal/..."},

	"faults/internal/faulttest": {"faults", "faults/testbed", "faults/link", "faults/link/gate", "faults/watch", "workload/history"}, // of tests

	"lockimpl":     {},
	"lockimpl/...": {"lockimpl", "lockimpl/internal/..."},

	"lockimpl/redlock":              {"lockimpl", "lockimpl/redlock/internal/..."},
	"lockimpl/redlock/internal/...": {"lockimpl/redlock/internal/..."},
	"lockimpl/mutants":              {"lockimpl", "lockimpl/redlock", "lockimpl/mutants/internal/..."},

	"lockimpl/mutants/internal/plant":       {}, // makes the copy
	"lockimpl/mutants/internal/planted":     {"lockimpl", "lockimpl/mutants/internal/planted/..."},
	"lockimpl/mutants/internal/planted/...": {"lockimpl/mutants/internal/planted/..."},

	"lockimpl/internal/world": {"lockimpl", "lockimpl/redlock", "lockimpl/internal/memnet", "faults/testbed/memredis"}, // of tests
	"checker/anomaly":         {},
	"checker":                 {"checker/anomaly", "checker/internal/...", "workload/history", "workload/history/coverage", "workload/history/printable"},
	"checker/execjudge":       {"checker", "workload/history"},
	"checker/execjudge/...":   {}, // a program that needs nothing of this module

	// Facts go from the ledger to the rules, and nothing comes back; no rule knows another.
	"checker/internal/words":     {},
	"checker/internal/ledger":    {"checker/internal/words", "workload/history"},
	"checker/internal/rule":      {"checker/anomaly", "checker/internal/ledger", "checker/internal/words", "workload/history"},
	"checker/internal/rule/...":  {"checker/anomaly", "checker/internal/ledger", "checker/internal/rule", "checker/internal/words", "workload/history"},
	"checker/internal/opinion":   {"checker/internal/ledger", "checker/internal/rule", "checker/internal/words", "workload/history", "workload/history/printable"},
	"checker/internal/reference": {"workload/history"},
	"checker/internal/mutate":    {"workload/history"},
	"reports":                    {"checker", "checker/anomaly", "workload/history", "workload/history/coverage", "workload/history/printable", "reports/..."},
	"reports/pagetest":           {}, // of tests
	"reports/...":                {"checker", "checker/anomaly", "workload/history", "workload/history/coverage", "workload/history/fold", "workload/history/printable", "reports/..."},

	"cmd/torture":     {"cmd/torture/app", "cmd/torture/internal/..."}, // its tests ask for parts
	"cmd/torture/app": {"..."},

	// One package a capability, each on those above it alone; what is not of
	// cmd/torture is free to all of them.
	"cmd/torture/internal/periodic":          {},
	"cmd/torture/internal/stdio":             {},
	"cmd/torture/internal/crash":             {},
	"cmd/torture/internal/starter":           {},
	"cmd/torture/internal/kernel":            {},
	"cmd/torture/internal/kernel/kerneltest": {}, // of tests
	"cmd/torture/internal/farm":              {"cmd/torture/internal/periodic", "reports/unit", "workload/history/printable"},
	"cmd/torture/internal/farm/...":          {"cmd/torture/internal/farm"}, // of tests
	"cmd/torture/internal/distributed":       {"cmd/torture/internal/farm", "cmd/torture/internal/periodic", "workload/history", "workload/history/fold", "workload/history/historyfile", "workload/history/printable"},
	"cmd/torture/internal/config":            outside(),
	"cmd/torture/internal/wiring":            outside(),
	"cmd/torture/internal/catalogue":         outside("config"),
	"cmd/torture/internal/measure":           outside("config", "wiring", "catalogue", "periodic"),
	"cmd/torture/internal/bench":             outside("config", "catalogue", "measure"),
	"cmd/torture/internal/capacity":          outside("config", "catalogue", "measure"),
	"cmd/torture/internal/run":               outside("config", "wiring", "catalogue", "crash", "distributed", "kernel", "periodic"),
	"cmd/torture/internal/simulate":          outside("config", "wiring", "catalogue", "search", "farm"),
	"cmd/torture/internal/envelope":          outside("config", "catalogue", "run", "search", "simulate"),
	"cmd/torture/internal/gallery":           outside("config", "catalogue", "run", "periodic"),
	"cmd/torture/internal/nightly":           outside("config", "catalogue", "run", "gallery", "farm"),
	"cmd/torture/internal/exhibit":           outside("catalogue", "gallery"),
	"cmd/torture/internal/search":            outside("config"),
	"cmd/torture/internal/hunt":              outside("config", "wiring", "catalogue", "run", "gallery", "search", "periodic", "simulate", "farm"),
	"cmd/torture/internal/redistest":         outside("wiring"), // of tests
}

// outside allows everything that is not of this command, and the parts named.
func outside(parts ...string) []string {
	all := []string{"lockimpl/...", "workload/...", "faults/...", "checker/...", "reports/..."}
	for _, p := range parts {
		all = append(all, "cmd/torture/internal/"+p)
	}
	return all
}

// maxFiles is how many files a package may have, its tests apart: as many as a
// reader can keep in mind.
const maxFiles = 25

// catalogues have a file for each entry: a fault, a recipe, a verb.
var catalogues = []string{module + "faults/catalogue", module + "lockimpl/gallery", module + "cmd/torture/app"}

func TestPackagesStaySmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{len .GoFiles}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		pkg, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(count); err != nil || n > maxFiles && !slices.Contains(catalogues, pkg) {
			t.Errorf("%s has %s files, at most %d: cut it in two", pkg, count, maxFiles)
		}
	}
}

// The table in CONTRIBUTING.md names every part of the command, and what it says of the judge and of the
// reports is what may be imported.
func TestTheGuideNamesThePackages(t *testing.T) {
	guide, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	row := func(head string) string {
		for line := range strings.Lines(string(guide)) {
			if strings.HasPrefix(line, "| `"+head+"` |") {
				return line
			}
		}
		t.Fatalf("no row for %s", head)
		return ""
	}
	parts, err := os.ReadDir("internal")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if !strings.Contains(row("cmd/torture/internal"), "`"+part.Name()+"`") {
			t.Errorf("cmd/torture/internal/%s is not in the table", part.Name())
		}
	}
	for _, pkg := range []string{"checker", "reports"} {
		for _, imp := range mayImport[pkg] {
			if outer := strings.Contains(imp, "..."); !outer && !strings.Contains(row(pkg), path.Base(imp)) {
				t.Errorf("%s imports %s, which is not in its row", pkg, imp)
			}
		}
	}
}

// mayRequire lists, for the packages that must stay light, which modules of
// others they may depend on, at any depth of our own packages.
var mayRequire = map[string][]string{
	"workload/history": {},
	"lockimpl":         {},
	"lockimpl/redlock": {"github.com/redis/go-redis/v9"},
	"checker":          {"github.com/anishathalye/porcupine"},
}

func TestImports(t *testing.T) {
	for pkg, imports := range packages(t) {
		allowed, ok := rule(pkg)
		if !ok {
			t.Errorf("%s has no import rule", pkg)
			continue
		}
		for _, imp := range imports {
			if imp, ours := strings.CutPrefix(imp, module); ours && !matches(allowed, imp) {
				t.Errorf("%s must not import %s", pkg, imp)
			}
		}
	}
}

func TestLightPackagesStayLight(t *testing.T) {
	all := packages(t)
	for pkg, allowed := range mayRequire {
		for _, imp := range closure(all, pkg) {
			foreign := strings.Contains(strings.Split(imp, "/")[0], ".")
			if foreign && !slices.ContainsFunc(allowed, func(m string) bool { return imp == m || strings.HasPrefix(imp, m+"/") }) {
				t.Errorf("%s must not depend on %s", pkg, imp)
			}
		}
	}
}

// A person who imports the lock gets the contract, the lock's own parts, and
// nothing else of this module.
func TestTheLockDependsOnItsContractAlone(t *testing.T) {
	for _, imp := range closure(packages(t), "lockimpl/redlock") {
		ours, isOurs := strings.CutPrefix(imp, module)
		if isOurs && !matches([]string{"lockimpl", "lockimpl/redlock/internal/..."}, ours) {
			t.Errorf("lockimpl/redlock must not depend on %s", ours)
		}
	}
}

// packages returns the direct imports of every package of the module.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		all[strings.TrimPrefix(fields[0], module)] = fields[1:]
	}
	return all
}

// closure returns what pkg imports, directly or through our own packages.
func closure(all map[string][]string, pkg string) []string {
	seen := map[string]bool{}
	var walk func(string)
	walk = func(p string) {
		for _, imp := range all[p] {
			if seen[imp] {
				continue
			}
			seen[imp] = true
			walk(strings.TrimPrefix(imp, module))
		}
	}
	walk(pkg)
	var list []string
	for imp := range seen {
		list = append(list, imp)
	}
	slices.Sort(list)
	return list
}

// rule finds pkg's own entry, or that of the nearest tree it is in.
func rule(pkg string) (allowed []string, ok bool) {
	if allowed, ok = mayImport[pkg]; ok {
		return allowed, true
	}
	for dir := pkg; dir != "."; dir = path.Dir(dir) {
		if allowed, ok = mayImport[dir+"/..."]; ok {
			return allowed, true
		}
	}
	return nil, false
}

func matches(allowed []string, imp string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		tree, isTree := strings.CutSuffix(a, "...")
		return a == imp || isTree && strings.HasPrefix(imp+"/", tree)
	})
}
