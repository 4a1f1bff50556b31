package testbed

import (
	"context"
	"fmt"
	"strings"
)

// Unplanned implements Watched.
func (n *processNode) Unplanned(ctx context.Context) error {
	if !n.mu.TryLock() {
		return nil
	}
	defer n.mu.Unlock()
	n.mourn()
	n.miss(ctx)
	if r := n.replica; r != nil && n.mishap == nil {
		r.mourn()
		n.mishap = r.mishap
	}
	if n.mishap != nil || n.closed || !n.alive() {
		return n.mishap
	}
	n.mishap = n.vitals.look(ctx, n, !n.pausedAt.IsZero())
	return n.mishap
}

// mourn notes that the present child ended by itself, or by somebody else's
// hand. The caller holds n.mu.
func (n *processNode) mourn() {
	c := n.child
	if n.mishap != nil || c == nil || !c.gone() || c.ended {
		return
	}
	why := ""
	if !strings.HasPrefix(c.cmd.ProcessState.String(), "signal: killed") {
		why = lastLine(n.logPath())
	}
	n.mishap = fmt.Errorf("redis-server of %s (pid %d) ended, and not by this run: %s%s", n.name, c.pid(), c.cmd.ProcessState, why)
}

// miss notes that somebody else has stopped the child. The caller holds n.mu.
func (n *processNode) miss(ctx context.Context) {
	if n.mishap != nil || !n.alive() || !n.pausedAt.IsZero() {
		return
	}
	if state, exists := processState(ctx, n.child.pid()); exists && strings.HasPrefix(state, "T") {
		n.mishap = fmt.Errorf("redis-server of %s (pid %d) was stopped (SIGSTOP), and not by this run", n.name, n.child.pid())
	}
}
