package main_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"locktorture/cmd/torture/app"
)

var update = flag.Bool("update", false, "rewrite the table of faults in faults/README.md")

const (
	readme     = "../../faults/README.md"
	tableBegin = "<!-- torture list faults --markdown -->\n"
	tableEnd   = "<!-- end -->\n"
)

// The table of faults in the guide to package faults says what the catalogue and the testbeds say;
// go test ./cmd/torture -run TestReadmeFaults -update rewrites it.
func TestReadmeFaults(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), tableBegin)
	table, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		t.Fatalf("%s has no table between %q and %q", readme, tableBegin, tableEnd)
	}
	var printed, wrong bytes.Buffer
	if code := app.Run([]string{"list", "faults", "--markdown"}, &printed, &wrong); code != 0 {
		t.Fatalf("exit %d: %s", code, &wrong)
	}
	want := printed.String()
	if table == want {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date: go test ./cmd/torture -run TestReadmeFaults -update", readme)
	}
	if err := os.WriteFile(readme, []byte(before+tableBegin+want+tableEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
