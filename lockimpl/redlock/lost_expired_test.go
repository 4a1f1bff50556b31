package redlock

import (
	"testing"
	"time"
)

// TestLostOfAnExpiredLease asks a lease that has run out, as one that was granted
// to a client which stood still has, whether it is lost, and then ends it as a
// release does.
func TestLostOfAnExpiredLease(t *testing.T) {
	now := time.Now()
	e := &lease{l: new(Lock), began: now, wall: now.Round(0), until: now}
	first := e.Lost()
	e.mu.Lock()
	e.end()
	e.mu.Unlock()
	for _, lost := range []<-chan struct{}{first, e.Lost()} {
		select {
		case <-lost:
		default:
			t.Error("it is lost, and does not say so")
		}
	}
	after := &lease{l: new(Lock), began: now, wall: now.Round(0), until: now.Add(time.Hour)}
	after.end()
	select {
	case <-after.Lost():
	default:
		t.Error("a lease that has been released is lost, and does not say so")
	}
}
