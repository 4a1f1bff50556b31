//go:build unix

package testbed

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"locktorture/faults/testbed/internal/proc"
)

// statePoll is the pause between two looks at a process that is stopping.
const statePoll = time.Millisecond

// Pause implements Pauser by SIGSTOP, and returns when the process is seen to
// be stopped.
func (n *processNode) Pause(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.alive() {
		return "", fmt.Errorf("pause %s: %w", n.name, ErrDown)
	}
	if err := n.signal(ctx, syscall.SIGSTOP, true); err != nil {
		return "", fmt.Errorf("pause %s: %w", n.name, err)
	}
	n.pausedAt = time.Now()
	return fmt.Sprintf("pid %d stopped", n.child.Pid()), nil
}

// Resume implements Pauser by SIGCONT.
func (n *processNode) Resume(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.alive() {
		return n.name + " is down, not stopped", nil
	}
	if n.pausedAt.IsZero() {
		return fmt.Sprintf("pid %d was not stopped", n.child.Pid()), nil
	}
	if err := n.signal(ctx, syscall.SIGCONT, false); err != nil {
		return "", fmt.Errorf("resume %s: %w; mend by hand: kill -CONT %d", n.name, err, n.child.Pid())
	}
	stood := time.Since(n.pausedAt)
	n.pausedAt = time.Time{}
	return fmt.Sprintf("pid %d runs again after %s", n.child.Pid(), stood.Round(time.Millisecond)), nil
}

// signal sends sig and waits until the process is stopped, or no longer is.
func (n *processNode) signal(ctx context.Context, sig syscall.Signal, stopped bool) error {
	ctx, cancel := context.WithTimeout(ctx, proc.DeathWait)
	defer cancel()
	if err := n.child.Signal(sig); err != nil {
		return fmt.Errorf("send %s to pid %d: %w", sig, n.child.Pid(), err)
	}
	for {
		state, exists := proc.State(ctx, n.child.Pid())
		if exists && strings.HasPrefix(state, "T") == stopped {
			return nil
		}
		select {
		case <-n.child.Done:
			return ErrDown
		case <-ctx.Done():
			return fmt.Errorf("await %s at pid %d: %w", sig, n.child.Pid(), ctx.Err())
		case <-time.After(statePoll):
		}
	}
}
