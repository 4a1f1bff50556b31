package scenario

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"locktorture/faults/link"
	"locktorture/lockimpl"
	"locktorture/lockimpl/child"
	"locktorture/workload"
)

// A childLocker is a lock in a process of its own, which writes by itself.
type childLocker interface {
	lockimpl.Locker
	child.Process
	child.Observable
}

// employ makes an incarnation of a child: a crash kills it, its writes go into
// the run's ledger, and what it did against the protocol is told at the end.
func (c *client) employ(p childLocker, gate *link.Gate) *workload.Conn {
	c.mu.Lock()
	c.proc = p
	c.mu.Unlock()
	clerk := &clerk{ledger: c.rig.ledger}
	p.ObserveWrites(clerk)
	return &workload.Conn{
		Locker: p,
		Named:  func(owner string) { clerk.owner.Store(owner) },
		Sever: func() {
			gate.Sever()
			_, _ = p.Kill() // it may be gone already
		},
		Close: func() error {
			err := p.Close()
			c.rig.note(c.Client.Name, p.Findings())
			return err
		},
	}
}

// A clerk enters the writes of one child.
type clerk struct {
	ledger *workload.Ledger
	owner  atomic.Value // string
}

// ObserveWrite implements child.WriteObserver.
func (k *clerk) ObserveWrite(w child.Write) {
	owner, _ := k.owner.Load().(string)
	k.ledger.Take(workload.Effect{
		Key: w.Key, Owner: owner, Fence: w.Fence, Issued: w.Issued,
		Value: fmt.Sprintf("%s/%s/%d", owner, w.Handle, w.N),
	})
}

func (c *client) process() child.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.proc
}

func stopped(name string, p child.Process) (string, error) {
	if _, err := p.Stop(); err != nil && !errors.Is(err, child.ErrGone) {
		return "", fmt.Errorf("stop %s: %w", name, err)
	}
	return name + "'s process is stopped (SIGSTOP)", nil
}

// continued lets the process go on, with its own work first: for as long as two
// of its writes take, nobody asks it for anything.
func continued(ctx context.Context, name string, p child.Process, every time.Duration) (string, error) {
	if _, err := p.Cont(); err != nil && !errors.Is(err, child.ErrGone) {
		return "", fmt.Errorf("continue %s: %w", name, err)
	}
	timer := time.NewTimer(2 * every)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return name + "'s process goes on (SIGCONT)", nil
}

// note keeps what a child did against the protocol.
func (r *rig) note(client string, findings []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range findings {
		r.findings = append(r.findings, client+"'s child: "+f)
	}
}
