package link

import (
	"context"
	"net"
	"sync/atomic"
)

// silence is what dials meet on a partitioned link: nobody answers them. Those
// of this process wait at the client's end, on every fabric; a port that can
// leaves those of other processes unanswered too.
type silence struct {
	partitions int           // in force, under link.changes
	over       chan struct{} // closed when the last one ends; nil while dials are answered; under link.mu
	dials      atomic.Int64  // left unanswered for a while, or for good
}

// A silencer is a port that can leave the dials of other processes unanswered,
// as if every packet of theirs were lost, and spare open connections.
type silencer interface {
	silence(on bool) error
}

// isolate begins one partition of the link.
func (l *proxyLink) isolate() error {
	l.silent.partitions++
	if l.silent.partitions > 1 {
		return nil
	}
	l.mu.Lock()
	l.silent.over = make(chan struct{})
	l.mu.Unlock()
	return l.silencePort(true)
}

// rejoin ends one partition of the link.
func (l *proxyLink) rejoin() error {
	if l.silent.partitions == 1 {
		if err := l.silencePort(false); err != nil {
			return err
		}
		l.mu.Lock()
		close(l.silent.over)
		l.silent.over = nil
		l.mu.Unlock()
	}
	l.silent.partitions--
	return nil
}

func (l *proxyLink) silencePort(on bool) error {
	if err := l.silenceIngress(on); err != nil {
		return err
	}
	if p, ok := l.port.(silencer); ok {
		return p.silence(on)
	}
	return nil
}

// partitioned reports whether dials are left unanswered.
func (l *proxyLink) partitioned() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.silent.over != nil
}

// answered returns a channel that is closed when dials are answered.
func (l *proxyLink) answered() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if over := l.silent.over; over != nil {
		return over
	}
	now := make(chan struct{})
	close(now)
	return now
}

// awaitAnswer returns when a dial would be answered. Where ctx has no end it
// waits for the heal.
func (l *proxyLink) awaitAnswer(ctx context.Context) error {
	counted := false
	for {
		l.mu.Lock()
		over, closed := l.silent.over, l.closed
		l.mu.Unlock()
		if over == nil || closed {
			return nil
		}
		if !counted {
			counted = true
			l.silent.dials.Add(1)
		}
		select {
		case <-over:
		case <-ctx.Done():
			return &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
		}
	}
}
