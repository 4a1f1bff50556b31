package wiring

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
)

// late is a set of nodes that answers too late some times.
type late struct {
	err   error
	times int
}

func (l *late) Bootstrap(context.Context) error {
	if l.times--; l.times < 0 {
		return nil
	}
	return l.err
}

// New nodes that answer too late are asked again; what else is wrong with them is told at once.
func TestNodesThatAreLateAreAskedAgain(t *testing.T) {
	for _, err := range []error{os.ErrDeadlineExceeded, context.DeadlineExceeded} {
		if err := Bootstrap(t.Context(), &late{fmt.Errorf("greet node n1: %w", err), 2}); err != nil {
			t.Error(err)
		}
	}
	refused := errors.New("no password")
	if err := Bootstrap(t.Context(), &late{refused, 1}); !errors.Is(err, refused) {
		t.Errorf("%v, want %v", err, refused)
	}
}
