package gallery

import (
	"context"
	"errors"
	"testing"
)

// TestSlots takes one slot away for every run that is played again, and leaves
// one.
func TestSlots(t *testing.T) {
	s := NewSlots(3)
	for range 5 {
		if err := s.Acquire(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		s.Release()
	}
	if err := s.Acquire(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Acquire(over, false); !errors.Is(err, context.Canceled) {
		t.Errorf("a second slot: %v, want none", err)
	}
}
