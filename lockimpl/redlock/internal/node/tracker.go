package node

import (
	"sync"
	"time"
)

// A Tracker counts the calls that are under way and that nobody may be waiting
// for.
type Tracker struct {
	mu   sync.Mutex
	n    int
	shut bool
	idle chan struct{} // set while somebody waits; closed at zero
}

// Begin adds n, unless the Tracker has been shut.
func (t *Tracker) Begin(n int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.shut {
		t.n += n
	}
	return !t.shut
}

// Shut has nothing begin any more. What has begun may still Add.
func (t *Tracker) Shut() {
	t.mu.Lock()
	t.shut = true
	t.mu.Unlock()
}

// Add adds n calls, or takes off -n that have been answered.
func (t *Tracker) Add(n int) {
	t.mu.Lock()
	t.n += n
	if t.n == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
	t.mu.Unlock()
}

// Wait returns when the count is zero, or after limit.
func (t *Tracker) Wait(limit time.Duration) {
	t.mu.Lock()
	if t.n == 0 {
		t.mu.Unlock()
		return
	}
	if t.idle == nil {
		t.idle = make(chan struct{})
	}
	idle := t.idle
	t.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	}
}
