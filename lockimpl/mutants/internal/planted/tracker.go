// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"sync"
	"time"
)

// A tracker counts what goes on in the background.
type tracker struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // set while somebody waits; closed at zero
}

func (t *tracker) add(n int) {
	t.mu.Lock()
	t.n += n
	if t.n == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
	t.mu.Unlock()
}

// wait returns when the count is zero, or after limit.
func (t *tracker) wait(limit time.Duration) {
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
