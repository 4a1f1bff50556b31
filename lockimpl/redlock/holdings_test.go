package redlock

import (
	"context"
	"testing"
)

// The last but one to leave finds the key free; before it has left, another of the same
// owner, who waited, takes the key. The holding stays with that one.
func TestHoldingStaysWithWhoeverTookTheKeyMeanwhile(t *testing.T) {
	var s holdings
	who := holder{"me", "k"}
	first, err := s.enter(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	waited := make(chan *holding)
	go func() {
		h, err := s.enter(t.Context(), who)
		if err != nil {
			t.Error(err)
		}
		waited <- h
	}()
	<-first.busy // as exit does; the rest of it comes late
	second := <-waited
	second.count = 1
	s.exit(second)
	s.leave(first)
	if s.byWho[who] != second {
		t.Error("a holding of which somebody holds the key is forgotten")
	}
	second.count = 0
	third, err := s.enter(t.Context(), who)
	if err != nil || third != second {
		t.Fatalf("another holding: %v", err)
	}
	s.exit(third)
	if len(s.byWho) > 0 {
		t.Error("a holding that nobody holds is kept")
	}
}

// Who gives up waiting leaves nothing behind either.
func TestHoldingThatIsGivenUpIsForgotten(t *testing.T) {
	var s holdings
	who := holder{"me", "k"}
	first, err := s.enter(t.Context(), who)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.enter(ctx, who); err == nil {
		t.Fatal("entered beside another")
	}
	s.exit(first)
	if len(s.byWho) > 0 {
		t.Error("a holding that nobody holds is kept")
	}
}
