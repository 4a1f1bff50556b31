// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package waiting

import (
	"maps"
	"sync"
	"time"
)

// Intents remembers which keys this client, trying to write, found held by
// readers. The next try within the patience of the queue takes a place in it,
// which keeps new readers out: otherwise writers that only try would starve.
// A writer held up by another writer leaves no intent, so that readers have
// their turn when that writer is done.
type Intents struct {
	mu    sync.Mutex
	byKey map[string]time.Time // until when
	limit int                  // of byKey, at which those that have ended are dropped
}

// leastIntents are kept without looking whether they have ended.
const leastIntents = 64

// Alive reports whether key was found held by readers so lately.
func (s *Intents) Alive(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, ok := s.byKey[key]
	if ok && time.Now().After(until) {
		delete(s.byKey, key)
		return false
	}
	return ok
}

// Set remembers key until then.
func (s *Intents) Set(key string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey == nil {
		s.byKey, s.limit = map[string]time.Time{}, leastIntents
	}
	if len(s.byKey) >= s.limit {
		now := time.Now()
		maps.DeleteFunc(s.byKey, func(_ string, until time.Time) bool { return now.After(until) })
		s.limit = max(2*len(s.byKey), leastIntents)
	}
	s.byKey[key] = until
}

// Clear forgets key.
func (s *Intents) Clear(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byKey, key)
}
