package run

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
)

// TestFullDiskIsTheCause: a server that ended before the history's writer failed
// ended for want of the same disk.
func TestFullDiskIsTheCause(t *testing.T) {
	full := fmt.Errorf("write history: %w", syscall.ENOSPC)
	s := &session{ended: true, mishaps: []mishap{{err: errors.New("redis-server of n1 ended")}}}
	s.noteTrouble(errors.New("something else"))
	s.noteTrouble(full)
	want := []string{full.Error(), "redis-server of n1 ended", "something else"}
	if got := s.troubles(); !slices.Equal(got, want) {
		t.Errorf("troubles are %q, want %q", got, want)
	}
}
