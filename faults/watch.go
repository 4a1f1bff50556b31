package faults

import (
	"sync"

	"locktorture/workload/history"
)

// A Watch follows a history as it is recorded: who holds what, and which
// life-cycle events of the lock have just happened. It is a history.Sink.
type Watch struct {
	mu      sync.Mutex
	holders map[string]string // key → owner
}

// NewWatch returns an empty Watch.
func NewWatch() *Watch { return &Watch{holders: map[string]string{}} }

// Event implements history.Sink.
func (w *Watch) Event(e *history.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case e.Op == history.Acquire && e.Kind == history.OK:
		w.holders[e.Key] = e.Owner
	case e.Op == history.Release && e.Kind == history.Invoke && w.holders[e.Key] == e.Owner:
		delete(w.holders, e.Key)
	}
}
