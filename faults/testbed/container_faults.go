package testbed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"locktorture/faults/testbed/internal/proc"
)

// Alive implements Killer. An engine that does not answer counts as none.
func (n *containerNode) Alive() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), proc.DeathWait)
	defer cancel()
	return n.alive(ctx) == nil
}

// alive returns nil, ErrDown, or why nobody can tell.
func (n *containerNode) alive(ctx context.Context) error {
	s, err := n.state(ctx)
	if err == nil && !s.Running {
		err = ErrDown
	}
	return err
}

// Kill implements Killer by SIGKILL. It works on a paused node too: the signal
// is the first thing that its server meets.
func (n *containerNode) Kill(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.alive(ctx); err != nil {
		return "", fmt.Errorf("kill %s: %w", n.name, err)
	}
	n.pausedAt, n.down = time.Time{}, true
	if _, err := n.bed.docker.Client().ContainerKill(ctx, n.id(), client.ContainerKillOptions{Signal: "SIGKILL"}); err != nil {
		return "", fmt.Errorf("kill %s: %w", n.name, err)
	}
	s, err := n.awaitState(ctx, "dead", func(s *container.State) bool { return !s.Running })
	if err != nil {
		return "", fmt.Errorf("kill %s: %w", n.name, err)
	}
	return fmt.Sprintf("container %s exited with %d", short(n.id()), s.ExitCode), nil
}

// CanRestart implements Restarter.
func (n *containerNode) CanRestart(how Restart) error {
	switch {
	case how == PowerLoss:
		return fmt.Errorf("restart %s %s: a container cannot lose power; a process testbed can: %w", n.name, how, ErrUnsupported)
	case how == WithData && !n.persist:
		return fmt.Errorf("restart %s %s: it keeps no data (appendonly no); start the testbed with persistence: %w", n.name, how, ErrUnsupported)
	}
	return nil
}

// Restart implements Killer. A node that has files of its own, be it for persistence or of
// a deployment, comes back empty in a new container, in every other case in its own.
func (n *containerNode) Restart(ctx context.Context, how Restart) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.vitals.restarted()
	err := n.mayRestart(ctx, how)
	if err == nil && how == Empty && (n.persist || n.elected) {
		err = n.renew(ctx)
	}
	if err == nil {
		err = n.start(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("restart %s on %s: %w", n.name, n.Addr(), err)
	}
	keys, err := Do(ctx, n, "DBSIZE")
	if err != nil {
		return "", fmt.Errorf("restart %s: %w", n.name, err)
	}
	return fmt.Sprintf("container %s answers on %s with %d keys", short(n.id()), n.Addr(), keys), nil
}

// renew replaces the dead container by one without its data.
func (n *containerNode) renew(ctx context.Context) error {
	if n.c != nil {
		if err := n.keepFiles(ctx); err != nil {
			return err
		}
	}
	if err := n.discard(ctx); err != nil {
		return err
	}
	return n.create(ctx)
}

// mayRestart allows another try after a restart that failed half-way, with or
// without a container.
func (n *containerNode) mayRestart(ctx context.Context, how Restart) error {
	switch err := n.alive(ctx); {
	case n.closed:
		return ErrClosed
	case err == nil:
		return ErrUp
	case !errors.Is(err, ErrDown):
		return err
	}
	return n.CanRestart(how)
}

// Pause implements Pauser by Docker's freezer.
func (n *containerNode) Pause(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.alive(ctx); err != nil {
		return "", fmt.Errorf("pause %s: %w", n.name, err)
	}
	if _, err := n.bed.docker.Client().ContainerPause(ctx, n.id(), client.ContainerPauseOptions{}); err != nil {
		return "", fmt.Errorf("pause %s: %w", n.name, err)
	}
	n.pausedAt = time.Now()
	if _, err := n.awaitState(ctx, "paused", func(s *container.State) bool { return s.Paused }); err != nil {
		return "", fmt.Errorf("pause %s: %w", n.name, err)
	}
	return fmt.Sprintf("container %s paused", short(n.id())), nil
}

// Resume implements Pauser.
func (n *containerNode) Resume(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s, err := n.state(ctx)
	switch {
	case errors.Is(err, ErrDown) || err == nil && !s.Running:
		return n.name + " is down, not paused", nil
	case err != nil:
		return "", fmt.Errorf("resume %s: %w", n.name, err)
	case !s.Paused:
		return fmt.Sprintf("container %s was not paused", short(n.id())), nil
	}
	_, err = n.bed.docker.Client().ContainerUnpause(ctx, n.id(), client.ContainerUnpauseOptions{})
	if err == nil {
		_, err = n.awaitState(ctx, "running", func(s *container.State) bool { return !s.Paused })
	}
	if err != nil {
		return "", fmt.Errorf("resume %s: %w; mend by hand: docker unpause %s", n.name, err, short(n.id()))
	}
	stood := time.Since(n.pausedAt)
	n.pausedAt = time.Time{}
	return fmt.Sprintf("container %s runs again after %s", short(n.id()), stood.Round(time.Millisecond)), nil
}

// Administer implements Administrable.
func (n *containerNode) Administer(ctx context.Context, args ...string) (any, error) {
	n.vitals.noteCommand(args)
	return administer(ctx, n, args)
}

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
		n.mishap = n.vitals.check(ctx, n, s.Paused)
	}
	return n.mishap
}
