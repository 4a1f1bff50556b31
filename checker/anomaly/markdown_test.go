package anomaly

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of anomalies in checker/README.md")

const (
	readme     = "../README.md"
	tableBegin = "<!-- torture list anomalies --markdown -->\n"
	tableEnd   = "<!-- end -->\n"
)

// The table in the judge's README is the catalogue; go test ./checker/anomaly
// -update rewrites it.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), tableBegin)
	stated, after, ended := strings.Cut(rest, tableEnd)
	switch {
	case !found || !ended:
		t.Fatalf("%s has no table between %q and %q", readme, tableBegin, tableEnd)
	case stated == Markdown():
	case !*update:
		t.Fatalf("%s is out of date: go test ./checker/anomaly -update", readme)
	default:
		if err := os.WriteFile(readme, []byte(before+tableBegin+Markdown()+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
