package catalogue

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locktorture/faults/internal/faulttest"
)

// The worked example of the README compiles, added to this package as the
// README says.
func TestReadmeExample(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		faulttest.Missing(t, err)
	}
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, part := range strings.Split(string(text), "```go\n")[1:] {
		block, _, _ := strings.Cut(part, "```")
		blocks = append(blocks, block)
	}
	if len(blocks) != 4 {
		t.Fatalf("%d blocks of Go; want a file, a line of the list, a line of the classes, and a test", len(blocks))
	}
	const classes = "../../workload/history/coverage/class.go"
	overlay := overlaid(t, map[string]string{
		"swap_db.go": blocks[0], "swap_db_test.go": blocks[3],
		"catalogue.go": withLine(t, "catalogue.go", "var entries = []Entry{\n", blocks[1]),
		classes:        withLine(t, classes, "var kinds = map[string]kind{\n", blocks[2]),
	})
	vet := exec.CommandContext(t.Context(), "go", "vet", "-overlay", overlay, ".")
	if said, err := vet.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// withLine is a file's text with a line more at the head of a list.
func withLine(t *testing.T, path, head, line string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(text), head)
	if !found {
		t.Fatalf("%s has no %q", path, head)
	}
	return before + head + line + after
}

// overlaid returns a file that tells go to take other texts for files of this
// folder.
func overlaid(t *testing.T, texts map[string]string) string {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{}
	for name, text := range texts {
		file := filepath.Join(dir, filepath.Base(name))
		replace[filepath.Join(here, name)] = file
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o644); err != nil {
		t.Fatal(err)
	}
	return overlay
}
