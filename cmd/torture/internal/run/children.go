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
	"locktorture/faults/link/gate"
	"locktorture/lockimpl"
	"locktorture/lockimpl/child"
	"locktorture/workload"
	"locktorture/workload/history"
	"locktorture/workload/load"
)

// A childLocker is a lock in a process of its own, which writes by itself.
type childLocker interface {
	lockimpl.Locker
	child.Process
	child.Observable
	Can(ability string) bool
}

// connectChild makes an incarnation of a child process: a crash kills it, its
// writes go into the run's ledger, and what it did against the protocol is noted
// when it ends.
func (c *client) connectChild(p childLocker, gate *gate.Gate) *workload.Conn {
	c.mu.Lock()
	c.proc, c.past = p, append(c.past, p)
	c.mu.Unlock()
	writes := &childWrites{ledger: c.env.ledger, acquires: &c.env.acquires}
	p.ObserveWrites(writes)
	return &workload.Conn{
		Locker: p,
		Named:  func(owner string) { writes.owner.Store(owner) },
		Drain:  c.drain,
		Sever: func() {
			gate.Sever()
			_, _ = p.Kill() // it may be gone already
		},
		Close: func() error {
			err := p.Close()
			for _, f := range p.Findings() {
				c.env.find(c.Client.Name + "'s child: " + f)
			}
			return err
		},
	}
}

// settleLimit bounds the wait for what a child has sent to pass its ingresses.
const settleLimit = 2 * time.Second

// drain waits until everything that the child has sent so far has passed the links' taps.
func (c *client) drain() {
	ctx, cancel := context.WithTimeout(context.Background(), settleLimit)
	defer cancel()
	for _, l := range c.env.links[c.Client.Name] {
		if ingress, can := l.(link.Opener); can {
			ingress.Drain(ctx)
		}
	}
}

// A childWrites records the writes of one child process in the ledger.
type childWrites struct {
	ledger   *workload.Ledger
	acquires *openAcquires
	owner    atomic.Value // string: of the child's present incarnation
}

// ObserveWrite implements child.WriteObserver. A child that has been granted a
// key may write before its client has recorded the grant: the write waits.
func (c *childWrites) ObserveWrite(w child.Write) {
	owner, _ := c.owner.Load().(string)
	c.acquires.awaitCompletion(owner, w.Granted)
	c.ledger.Record(workload.Effect{
		Key: w.Key, Owner: owner, Fence: w.Fence, Issued: w.Issued,
		Value: fmt.Sprintf("%s/%s/%d", owner, w.Handle, w.N),
	})
}

// An openAcquires is which owners have an acquire open, according to the history.
type openAcquires struct {
	mu   sync.Mutex
	open map[string]openAcquire // by owner
}

// An openAcquire is one that is not recorded as completed.
type openAcquire struct {
	since     time.Time
	completed chan struct{} // closed when it is
}

// Event implements history.Sink.
func (o *openAcquires) Event(e *history.Event) {
	if e.Op != history.Acquire || e.Process < 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if was, open := o.open[e.Owner]; open {
		close(was.completed)
		delete(o.open, e.Owner)
	}
	if e.Kind == history.Invoke {
		if o.open == nil {
			o.open = map[string]openAcquire{}
		}
		o.open[e.Owner] = openAcquire{time.Now(), make(chan struct{})}
	}
}

// completionLimit bounds the wait for a client to record an answer that it was given.
const completionLimit = 5 * time.Second

// awaitCompletion waits until owner has no acquire open by which it may have been granted,
// at the given time, what it writes under. Another one, by which it asks once more for what
// it holds, is answered behind its writes.
func (o *openAcquires) awaitCompletion(owner string, granted time.Time) {
	o.mu.Lock()
	acquire, open := o.open[owner]
	o.mu.Unlock()
	if !open || acquire.since.After(granted) {
		return
	}
	timer := time.NewTimer(completionLimit)
	defer timer.Stop()
	select {
	case <-acquire.completed:
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
func (e *environment) childPids() (pids []int) {
	for _, c := range e.clients {
		if p := c.process(); p != nil {
			pids = append(pids, p.Pid())
		}
	}
	return pids
}

func stopChild(name string, p child.Process) (string, error) {
	if _, err := p.Stop(); err != nil && !errors.Is(err, child.ErrGone) {
		return "", fmt.Errorf("stop %s: %w", name, err)
	}
	return name + "'s process is stopped (SIGSTOP)", nil
}

// continueChild lets the process go on and finish its own work first: for as long as two of its
// writes take, it gets no request.
func continueChild(ctx context.Context, name string, p child.Process, every time.Duration) (string, error) {
	if _, err := p.Cont(); err != nil && !errors.Is(err, child.ErrGone) {
		return "", fmt.Errorf("continue %s: %w", name, err)
	}
	_ = load.Sleep(ctx, 2*every)
	return name + "'s process goes on (SIGCONT)", nil
}

// find records something odd for the run's warnings.
func (e *environment) find(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.findings = append(e.findings, text)
}
