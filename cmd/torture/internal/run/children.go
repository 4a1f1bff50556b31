package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"locktorture/faults/link"
	"locktorture/lockimpl"
	"locktorture/lockimpl/child"
	"locktorture/workload"
	"locktorture/workload/history"
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
	c.proc, c.past = p, append(c.past, p)
	c.mu.Unlock()
	clerk := &clerk{ledger: c.env.ledger, roll: &c.env.roll}
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
			c.env.note(c.Client.Name, p.Findings())
			return err
		},
	}
}

// A clerk enters the writes of one child.
type clerk struct {
	ledger *workload.Ledger
	roll   *roll
	owner  atomic.Value // string
}

// ObserveWrite implements child.WriteObserver. A child that has been granted a
// key may write before its client has recorded the grant: the write waits.
func (k *clerk) ObserveWrite(w child.Write) {
	owner, _ := k.owner.Load().(string)
	k.roll.settle(owner)
	k.ledger.Take(workload.Effect{
		Key: w.Key, Owner: owner, Fence: w.Fence, Issued: w.Issued,
		Value: fmt.Sprintf("%s/%s/%d", owner, w.Handle, w.N),
	})
}

// A roll knows who has an acquire open, as far as the history tells.
type roll struct {
	mu   sync.Mutex
	open map[string]chan struct{} // by owner; closed when the acquire is recorded as completed
}

// Event implements history.Sink.
func (r *roll) Event(e *history.Event) {
	if e.Op != history.Acquire || e.Process < 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if was := r.open[e.Owner]; was != nil {
		close(was)
		delete(r.open, e.Owner)
	}
	if e.Kind == history.Invoke {
		if r.open == nil {
			r.open = map[string]chan struct{}{}
		}
		r.open[e.Owner] = make(chan struct{})
	}
}

// settleLimit bounds the wait for a client to record what it was told.
const settleLimit = 5 * time.Second

// settle waits until owner has no acquire open.
func (r *roll) settle(owner string) {
	r.mu.Lock()
	open := r.open[owner]
	r.mu.Unlock()
	if open == nil {
		return
	}
	timer := time.NewTimer(settleLimit)
	defer timer.Stop()
	select {
	case <-open:
	case <-timer.C:
	}
}

func (c *client) process() child.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.proc
}

// processes are those of all incarnations so far.
func (c *client) processes() []child.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.past)
}

// childPids are the processes in which the lock lives at present.
func (r *environment) childPids() (pids []int) {
	for _, c := range r.clients {
		if p := c.process(); p != nil {
			pids = append(pids, p.Pid())
		}
	}
	return pids
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
func (r *environment) note(client string, findings []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range findings {
		r.findings = append(r.findings, client+"'s child: "+f)
	}
}
