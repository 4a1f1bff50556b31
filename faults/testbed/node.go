package testbed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"locktorture/faults/internal/ports"
	"locktorture/faults/testbed/internal/aof"
	"locktorture/faults/testbed/internal/proc"
)

// startAttempts is how many ports are tried for a node before its start fails.
const startAttempts = 8

// A processNode is one redis-server child and its successors on one port.
type processNode struct {
	bed     *processBed
	name    string
	ports   *ports.Picker
	persist bool
	clock   *fakeTime // nil: the machine's own clock

	clockFile string // with clock: where it reads its offset

	deploymentConfig
	served bool // it has been ready

	mu          sync.Mutex // serialises life and death
	home        string     // its folder below the testbed's
	replica     *processNode
	lastReplica int
	port        int
	child       *proc.Child // nil before the first start
	pausedAt    time.Time
	diedAt      time.Time     // of the last kill, or of the pause before it, by this machine's clock
	ahead       time.Duration // of this machine's clock: the server's
	mishap      error         // that nobody asked for
	closed      bool

	vitals vitals
}

// Name implements Node.
func (n *processNode) Name() string { return n.name }

// Addr implements Node. It is fixed once StartProcess has returned.
func (n *processNode) Addr() string { return ports.Loopback(n.port) }

// Dial implements Node.
func (n *processNode) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", n.Addr())
}

func (n *processNode) dir() string     { return filepath.Join(n.bed.cfg.Dir, n.home) }
func (n *processNode) dataDir() string { return filepath.Join(n.dir(), "data") }

func (n *processNode) assign(d deploymentConfig) { n.deploymentConfig, n.vitals.elected = d, d.elected }

// firstStart finds a port on which the server comes up.
func (n *processNode) firstStart(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	err := n.clearData()
	if err != nil {
		return fmt.Errorf("start %s: %w", n.name, err)
	}
	for range startAttempts {
		if n.port = n.ports.Free(); n.sharded {
			n.busPort = n.ports.Free()
		}
		if err = n.start(ctx); err == nil || !errors.Is(err, errExited) {
			return err
		}
	}
	return err
}

// start runs the server on n.port and waits until it, and nobody else, answers
// there.
func (n *processNode) start(ctx context.Context) error {
	if err := n.prepareConfig(); err != nil {
		return fmt.Errorf("start %s: %w", n.name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, n.bed.cfg.Ready)
	defer cancel()
	c, err := n.bed.spawner.Start(n.command(), n.logPath())
	if err != nil {
		return fmt.Errorf("start %s: %w", n.name, err)
	}
	n.noteDeath()
	n.child = c
	n.vitals.restarted()
	if err := appendPid(n.bed.cfg.Dir, c.Pid(), n.configPath()); err != nil {
		return errors.Join(fmt.Errorf("start %s: %w", n.name, err), c.Kill())
	}
	if err := n.awaitReady(ctx); err != nil {
		return errors.Join(fmt.Errorf("start %s on %s: %w%s", n.name, n.Addr(), err, lastLine(n.logPath())), n.stopChild())
	}
	n.served = true
	return nil
}

// Alive implements Killer.
func (n *processNode) Alive() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.alive()
}

func (n *processNode) alive() bool { return n.child != nil && !n.child.Gone() }

// Kill implements Killer by SIGKILL. It works on a paused node too.
func (n *processNode) Kill(context.Context) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.alive() {
		return "", fmt.Errorf("kill %s: %w", n.name, ErrDown)
	}
	if n.diedAt = n.pausedAt; n.diedAt.IsZero() {
		n.diedAt = time.Now()
	}
	if err := n.stopChild(); err != nil {
		return "", fmt.Errorf("kill %s: %w", n.name, err)
	}
	return fmt.Sprintf("pid %d gone", n.child.Pid()), nil
}

// stopChild ends the child and clears what it leaves behind.
func (n *processNode) stopChild() error {
	n.pausedAt = time.Time{}
	if n.child == nil {
		return nil
	}
	n.child.Ended = true
	err := n.child.Kill()
	if n.clock != nil {
		err = errors.Join(err, removeShared(n.child.Pid()))
	}
	return err
}

// CanRestart implements Restarter.
func (n *processNode) CanRestart(how Restart) error {
	switch {
	case how != Empty && !n.persist:
		return fmt.Errorf("restart %s %s: it keeps no data (appendonly no); start the testbed with persistence: %w", n.name, how, ErrUnsupported)
	case how == PowerLoss && n.bed.cfg.Fsync != FsyncSecond:
		return fmt.Errorf("restart %s %s: it loses nothing (appendfsync %s); start the testbed with %s: %w",
			n.name, how, n.bed.cfg.Fsync, FsyncSecond, ErrUnsupported)
	}
	return nil
}

// Restart implements Killer. Empty deletes the node's data first, PowerLoss what
// had not been synced. After a power loss that lost nothing there is no receipt.
func (n *processNode) Restart(ctx context.Context, how Restart) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.mayRestart(how); err != nil {
		return "", err
	}
	lost, err := n.prepareData(how)
	if err != nil {
		return "", fmt.Errorf("restart %s: %w", n.name, err)
	}
	if err := n.start(ctx); err != nil {
		return "", err
	}
	keys, err := Do(ctx, n, "DBSIZE")
	if err != nil {
		return "", fmt.Errorf("restart %s: %w", n.name, err)
	}
	if how == PowerLoss && lost == "" {
		return "", nil
	}
	return fmt.Sprintf("pid %d answers on %s with %d keys%s", n.child.Pid(), n.Addr(), keys, lost), nil
}

// prepareData does to a dead node's data what the way to come back asks for,
// and says what was lost.
func (n *processNode) prepareData(how Restart) (lost string, err error) {
	switch how {
	case Empty:
		return "", n.clearData()
	case PowerLoss:
		bytes, err := aof.LoseUnsynced(n.dataDir(), n.diedAt.Add(n.ahead))
		if err != nil || bytes == 0 {
			return "", err
		}
		return fmt.Sprintf(", %d bytes of its log lost, not yet synced", bytes), nil
	}
	return "", nil
}

func (n *processNode) mayRestart(how Restart) error {
	switch {
	case n.closed:
		return fmt.Errorf("restart %s: %w", n.name, ErrClosed)
	case n.alive():
		return fmt.Errorf("restart %s: %w", n.name, ErrUp)
	}
	return n.CanRestart(how)
}

// removeData deletes the data of the node and of its replica.
func (n *processNode) removeData() error {
	err := os.RemoveAll(n.dataDir())
	if n.replica != nil {
		err = errors.Join(err, n.replica.removeData())
	}
	return err
}

func (n *processNode) clearData() error {
	if err := os.RemoveAll(n.dataDir()); err != nil {
		return err
	}
	return os.MkdirAll(n.dataDir(), 0o755)
}

// setAhead notes by how much the server's clock is ahead.
func (n *processNode) setAhead(by time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ahead = by
}

func (n *processNode) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	err := n.stopChild()
	if n.replica != nil {
		err = errors.Join(err, n.replica.close())
	}
	if err != nil {
		return fmt.Errorf("close %s: %w", n.name, err)
	}
	return nil
}
