package history

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestGolden reads the example of the format and writes the same bytes.
func TestGolden(t *testing.T) {
	want, err := os.ReadFile("testdata/example.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	h, err := ReadAll(bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Events) != 13 || h.Truncated {
		t.Fatalf("read %d events, truncated %v; want 13, complete", len(h.Events), h.Truncated)
	}
	_, lines, _ := strings.Cut(string(want), "\n")
	var got []byte
	for i := range h.Events {
		got = AppendEvent(got, &h.Events[i])
	}
	if string(got) != lines {
		t.Errorf("wrote\n%s\nwant\n%s", got, lines)
	}
}
