package app

import (
	"slices"
	"testing"
)

// TestNotDrawn: faults with one reason share a line, and those of --beyond one with all
// their names.
func TestNotDrawn(t *testing.T) {
	got := notDrawn([]string{
		"client-clock: the lock reads no client's clock", "clock-jump: it breaks what correct locks rest on: clocks (--beyond)",
		"client-clock-stuck: the lock reads no client's clock", "evict: it breaks what correct locks rest on: memory (--beyond)", "kill: as asked for",
	})
	want := []string{
		"not drawn: client-clock client-clock-stuck: the lock reads no client's clock", "not drawn without --beyond: clock-jump evict", "not drawn: kill: as asked for",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
