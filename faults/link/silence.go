package link

import (
	"context"
	"net"
	"sync/atomic"
)

// silence is what dials meet on a partitioned road: nobody answers them. Those
// of this process wait at the client's end, on every fabric; a port that can
// leaves those of other processes unanswered too.
type silence struct {
	partitions int           // in force, under road.changes
	over       chan struct{} // closed when the last one ends; nil while dials are answered; under road.mu
	dials      atomic.Int64  // left unanswered for a while, or for good
}

// A silencer is a port that can leave the dials of other processes unanswered,
// as if every packet of theirs were lost, and spare open connections.
type silencer interface {
	silence(on bool) error
}

// isolate begins one partition of the road.
func (r *road) isolate() error {
	r.silent.partitions++
	if r.silent.partitions > 1 {
		return nil
	}
	r.mu.Lock()
	r.silent.over = make(chan struct{})
	r.mu.Unlock()
	return r.silencePort(true)
}

// rejoin ends one partition of the road.
func (r *road) rejoin() error {
	if r.silent.partitions == 1 {
		if err := r.silencePort(false); err != nil {
			return err
		}
		r.mu.Lock()
		close(r.silent.over)
		r.silent.over = nil
		r.mu.Unlock()
	}
	r.silent.partitions--
	return nil
}

func (r *road) silencePort(on bool) error {
	if p, ok := r.port.(silencer); ok {
		return p.silence(on)
	}
	return nil
}

// awaitAnswer returns when a dial would be answered. Where ctx has no end it
// waits for the heal.
func (r *road) awaitAnswer(ctx context.Context) error {
	counted := false
	for {
		r.mu.Lock()
		over, closed := r.silent.over, r.closed
		r.mu.Unlock()
		if over == nil || closed {
			return nil
		}
		if !counted {
			counted = true
			r.silent.dials.Add(1)
		}
		select {
		case <-over:
		case <-ctx.Done():
			return &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
		}
	}
}
