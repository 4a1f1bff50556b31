package main

import (
	"context"
	"errors"
	"testing"
)

// TestSlots takes one slot away for every run that is played again, and leaves
// one.
func TestSlots(t *testing.T) {
	s := newSlots(3)
	for range 5 {
		if err := s.take(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		s.give()
	}
	if err := s.take(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.take(over, false); !errors.Is(err, context.Canceled) {
		t.Errorf("a second slot: %v, want none", err)
	}
}
