package testbed

import (
	"context"
	"errors"
	"fmt"
)

// Unplanned implements Watched.
func (n *containerNode) Unplanned(ctx context.Context) error {
	if !n.mu.TryLock() {
		return nil
	}
	defer n.mu.Unlock()
	if n.mishap != nil || n.closed || n.down || n.c == nil {
		return n.mishap
	}
	ask, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	s, err := n.state(ask)
	switch {
	case err != nil && (ctx.Err() != nil || errors.Is(ask.Err(), context.DeadlineExceeded)):
		return nil // a busy engine
	case err != nil:
		n.mishap = fmt.Errorf("container of %s: the Docker engine cannot say how it is: %w", n.name, err)
	case !s.Running:
		n.mishap = fmt.Errorf("container %s of %s ended with exit code %d, and not by this run (out of memory: %t)", short(n.id()), n.name, s.ExitCode, s.OOMKilled)
	case s.Paused && n.pausedAt.IsZero():
		n.mishap = fmt.Errorf("container %s of %s was paused, and not by this run", short(n.id()), n.name)
	default:
		n.mishap = n.vitals.look(ctx, n, s.Paused)
	}
	return n.mishap
}
