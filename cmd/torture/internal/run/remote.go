package run

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"locktorture/cmd/torture/internal/distributed"
	"locktorture/faults"
	"locktorture/faults/link"
)

// A remoteClient is a client at a worker, as faults see it.
type remoteClient struct {
	name string
	at   *distributed.Remote
}

// Name implements faults.Client.
func (c *remoteClient) Name() string { return c.name }

// Pause implements faults.Client.
func (c *remoteClient) Pause(ctx context.Context) (string, error) { return c.inject(ctx, "pause") }

// Crash implements faults.Client.
func (c *remoteClient) Crash(ctx context.Context) (string, error) { return c.inject(ctx, "crash") }

// Resume implements faults.Client.
func (c *remoteClient) Resume(ctx context.Context) (string, error) { return c.mend(ctx, "resume") }

// Restart implements faults.Client.
func (c *remoteClient) Restart(ctx context.Context) (string, error) { return c.mend(ctx, "restart") }

// Cancel implements faults.CancellingClient.
func (c *remoteClient) Cancel() (ended int) {
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	if err := c.at.Ask(ctx, askClient, clientOrder{c.name, "cancel"}, &ended); err != nil {
		return 0 // as far as is known
	}
	return ended
}

// inject has the worker do act to the client. A client whose worker is lost is out of reach:
// the error is then faults.ErrMissed.
func (c *remoteClient) inject(ctx context.Context, act string) (receipt string, err error) {
	err = c.at.Ask(ctx, askClient, clientOrder{c.name, act}, &receipt)
	return receipt, missed(err)
}

// mend undoes it. At a worker that is lost there is nothing to undo.
func (c *remoteClient) mend(ctx context.Context, act string) (receipt string, err error) {
	err = c.at.Ask(ctx, askClient, clientOrder{c.name, act}, &receipt)
	if errors.Is(err, distributed.ErrLost) {
		return "", nil
	}
	return receipt, err
}

// missed is err, with faults.ErrMissed where the worker is lost.
func missed(err error) error {
	if errors.Is(err, distributed.ErrLost) {
		return fmt.Errorf("%w: %w", faults.ErrMissed, err)
	}
	return err
}

// link implements driver.
func (a *remoteDriver) link(client, node string) link.Link {
	if r := a.at[client]; r != nil {
		return &remoteLink{client: client, node: node, at: r, number: func() uint64 { return a.numbers.Add(1) }}
	}
	return nil
}

// A remoteLink is a link at a worker.
type remoteLink struct {
	client, node string
	at           *distributed.Remote
	number       func() uint64
}

// Client implements link.Link.
func (l *remoteLink) Client() string { return l.client }

// Node implements link.Link.
func (l *remoteLink) Node() string { return l.node }

// Dial implements link.Link: the link's end is at its worker.
func (l *remoteLink) Dial(context.Context) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("the link %s→%s is at worker %s", l.client, l.node, l.at.Name)}
}

// Traffic implements link.Link. Of a worker that is lost nothing more passes.
func (l *remoteLink) Traffic() (t link.Traffic) {
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	_ = l.at.Ask(ctx, askTraffic, linkOrder{Client: l.client, Node: l.node}, &t)
	return t
}

// Impair implements link.Link.
func (l *remoteLink) Impair(ctx context.Context, i link.Impairment) (link.Applied, error) {
	a := &remoteApplied{at: l.at, number: l.number()}
	err := l.at.Ask(ctx, askImpair, linkOrder{Number: a.number, Client: l.client, Node: l.node, Impairment: i}, nil)
	if err == nil {
		return a, nil
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), healRemote)
	defer cancel()
	_, undone := a.Heal(undo) // its answer alone may be missing
	return nil, errors.Join(missed(err), undone)
}

// A remoteApplied is an impairment of a link at a worker.
type remoteApplied struct {
	at     *distributed.Remote
	number uint64

	mu   sync.Mutex
	last link.Impact
}

// Impact implements link.Applied.
func (a *remoteApplied) Impact() link.Impact {
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	impact, _ := a.ask(ctx, askImpact) // while it cannot be asked, it did what it had done
	return impact
}

// Heal implements link.Applied. With its worker the link went, and all that impaired it.
func (a *remoteApplied) Heal(ctx context.Context) (link.Impact, error) {
	impact, err := a.ask(ctx, askMend)
	if errors.Is(err, distributed.ErrLost) {
		err = nil
	}
	return impact, err
}

func (a *remoteApplied) ask(ctx context.Context, op string) (link.Impact, error) {
	var now link.Impact
	err := a.at.Ask(ctx, op, a.number, &now)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.last = now
	}
	return a.last, err
}

// rounded is d, rounded to what people read.
func rounded(d time.Duration) time.Duration {
	switch {
	case d > time.Second:
		return d.Round(10 * time.Millisecond)
	case d > time.Millisecond:
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Microsecond)
}
