package testbed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"locktorture/faults/testbed/internal/proc"
)

// Unplanned implements Watched.
func (n *processNode) Unplanned(ctx context.Context) error {
	if !n.mu.TryLock() {
		return nil
	}
	defer n.mu.Unlock()
	n.noteDeath()
	n.noteStop(ctx)
	if r := n.replica; r != nil && n.mishap == nil {
		r.noteDeath()
		n.mishap = r.mishap
	}
	if n.mishap != nil || n.closed || !n.alive() {
		return n.mishap
	}
	mishap := n.vitals.check(ctx, n, !n.pausedAt.IsZero())
	if errors.Is(mishap, syscall.ECONNREFUSED) {
		n.awaitDeath(ctx) // its sockets close before the process has ended
		n.noteDeath()
	}
	if n.mishap == nil {
		n.mishap = mishap
	}
	return n.mishap
}

// reapWait is for how long a server that refuses connections may take to end.
const reapWait = time.Second

// awaitDeath waits until the present child has ended, for reapWait at most.
func (n *processNode) awaitDeath(ctx context.Context) {
	patience := time.NewTimer(reapWait)
	defer patience.Stop()
	select {
	case <-n.child.Done:
	case <-patience.C:
	case <-ctx.Done():
	}
}

// noteDeath notes that the present child ended by itself, or by somebody else's
// hand. The caller holds n.mu.
func (n *processNode) noteDeath() {
	c := n.child
	if n.mishap != nil || c == nil || !c.Gone() || c.Ended {
		return
	}
	why := ""
	if !strings.HasPrefix(c.How(), "signal: killed") {
		why = lastLine(n.logPath())
	}
	n.mishap = fmt.Errorf("redis-server of %s (pid %d) ended, and not by this run: %s%s", n.name, c.Pid(), c.How(), why)
}

// noteStop notes that somebody else has stopped the child. The caller holds n.mu.
func (n *processNode) noteStop(ctx context.Context) {
	if n.mishap != nil || !n.alive() || !n.pausedAt.IsZero() {
		return
	}
	if state, exists := proc.State(ctx, n.child.Pid()); exists && strings.HasPrefix(state, "T") {
		n.mishap = fmt.Errorf("redis-server of %s (pid %d) was stopped (SIGSTOP), and not by this run", n.name, n.child.Pid())
	}
}
