package history

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

// FuzzReader feeds any bytes to a Reader. What it accepts must be written and
// read again as the same events, must obey Validate, and must mean to
// encoding/json what it means to the Reader.
func FuzzReader(f *testing.F) {
	example, err := os.ReadFile("testdata/example.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	f.Add([]byte(lines(invokeAcquire, okAcquire, end)))
	f.Add([]byte(lines(`{"index":0,"time_ns":5,"process":0,"kind":"ok","op":"extend","began_ns":1,"valid_until_ns":-2,"key":"\u00e9"}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := ReadAll(bytes.NewReader(data))
		var format *FormatError
		if err != nil && !errors.As(err, &format) {
			t.Fatalf("error %v, want a FormatError", err)
		}
		if err := Validate(h.Events); err != nil {
			t.Fatal(err)
		}
		again, err := AppendHeader(nil, h.Header)
		if err != nil {
			t.Fatal(err)
		}
		for i := range h.Events {
			again = AppendEvent(again, &h.Events[i])
		}
		if h.Header.Type == "" {
			return
		}
		twin, err := ReadAll(bytes.NewReader(again))
		if err != nil || len(twin.Events) != len(h.Events) {
			t.Fatalf("read again: %d events of %d, %v", len(twin.Events), len(h.Events), err)
		}
		for _, line := range strings.Split(string(data), "\n") {
			agree(t, []byte(line))
		}
	})
}
