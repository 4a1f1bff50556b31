package history

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestREADME reads the example of the format's description, and asks that the
// description names every field.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```jsonl\n")
	example, rest, _ := strings.Cut(example, "```")
	h, err := ReadAll(strings.NewReader(example))
	if err != nil || h.Truncated || len(h.Events) != 5 {
		t.Errorf("%d events, truncated %v, %v", len(h.Events), h.Truncated, err)
	}
	names := fieldNames()
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Header]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	for _, name := range names {
		if !strings.Contains(rest, "`"+name+"`") {
			t.Errorf("no word about %s", name)
		}
	}
}
