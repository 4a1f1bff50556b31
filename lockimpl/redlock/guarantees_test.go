package redlock_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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

// testsNearby returns the names of the tests of this lock, of its parts and of its mutants.
func testsNearby(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				all[f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEveryGuaranteeNamesATestThatExists(t *testing.T) {
	table, tests := guarantees(t), testsNearby(t)
	rows, proofs := regexp.MustCompile(`(?m)^\t ?(\d+a?)  (\S.*)$`).FindAllStringSubmatch(table, -1), map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  - (\d+): ((?:.|\n    )+)`).FindAllStringSubmatch(table, -1) {
		proofs[m[1]] = m[2]
	}
	if len(rows) < 10 {
		t.Fatalf("%d rows in the table, want at least 10", len(rows))
	}
	name := regexp.MustCompile(`\bTest\w+`)
	for _, row := range rows {
		named := name.FindAllString(proofs[row[1]], -1)
		if len(named) == 0 && !strings.Contains(row[2], "not detectable") {
			t.Errorf("row %s (%s) names no test", row[1], row[2])
		}
		delete(proofs, row[1])
		for _, n := range named {
			if !tests[n] {
				t.Errorf("row %s: %s does not exist", row[1], n)
			}
		}
	}
	for n := range proofs {
		t.Errorf("proofs of row %s, which does not exist", n)
	}
}
