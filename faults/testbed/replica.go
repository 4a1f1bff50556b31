package testbed

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

// StartReplica implements Replicated. A replica of an earlier failover is ended
// first.
func (n *processNode) StartReplica(ctx context.Context, via string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || !n.alive() {
		return "", fmt.Errorf("start replica of %s: %w", n.name, ErrDown)
	}
	if err := n.stopReplica(); err != nil {
		return "", fmt.Errorf("start replica of %s: %w", n.name, err)
	}
	if via == "" {
		via = n.Addr()
	}
	n.lastReplica++
	name := fmt.Sprintf("%s-replica%d", n.name, n.lastReplica)
	r := &processNode{bed: n.bed, name: name, home: name, ports: n.ports, persist: n.persist, clock: n.clock, clockFile: n.clockFile}
	if err := r.firstStart(ctx); err != nil {
		return "", err
	}
	n.replica = r
	if err := follow(ctx, r, via, r.bed.cfg.Ready); err != nil {
		return "", errors.Join(fmt.Errorf("start %s: %w", name, err), n.stopReplica())
	}
	return fmt.Sprintf("pid %d replicates %s through %s", r.child.Pid(), n.name, via), nil
}

// stopReplica ends the replica, if there is one, and deletes its data.
func (n *processNode) stopReplica() error {
	r := n.replica
	if r == nil {
		return nil
	}
	n.replica = nil
	return errors.Join(r.close(), r.removeData())
}

// Failover implements Replicated. The replica takes the node's port over at
// run time, so it needs Redis 7.0 or later.
func (n *processNode) Failover(ctx context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.replica
	if r == nil || !r.alive() {
		return "", fmt.Errorf("fail over %s: it has no replica", n.name)
	}
	n.noteDeath()
	old := n.child.Pid()
	if err := n.stopChild(); err != nil {
		return "", fmt.Errorf("fail over %s: %w", n.name, err)
	}
	for _, command := range [][]string{{"REPLICAOF", "NO", "ONE"}, {"CONFIG", "SET", "port", strconv.Itoa(n.port)}} {
		if _, err := Do(ctx, r, command...); err != nil {
			return "", fmt.Errorf("fail over %s: %w", n.name, err)
		}
	}
	// The node lives on in the replica's process and folder.
	n.child, r.child = r.child, n.child
	n.vitals.restarted()
	n.home, r.home = r.home, n.home
	n.replica = nil
	askCtx, cancel := context.WithTimeout(ctx, n.bed.cfg.Ready)
	defer cancel()
	if err := n.awaitReady(askCtx); err != nil {
		return "", fmt.Errorf("fail over %s: %w", n.name, err)
	}
	keys, err := Do(ctx, n, "DBSIZE")
	if err := errors.Join(err, r.removeData()); err != nil {
		return "", fmt.Errorf("fail over %s: %w", n.name, err)
	}
	return fmt.Sprintf("pid %d gone; its replica, pid %d, answers on %s with %d keys", old, n.child.Pid(), n.Addr(), keys), nil
}
