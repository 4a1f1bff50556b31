// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"locktorture/lockimpl"
)

// intents remembers which keys this client, trying to write, found held by
// readers. The next try within the patience of the queue takes a place in it,
// which keeps new readers out: otherwise writers that only try would starve.
// A writer held up by another writer leaves no intent, so that readers have
// their turn when that writer is done.
type intents struct {
	mu    sync.Mutex
	byKey map[string]time.Time // until when
	limit int                  // of byKey, at which those that have ended are dropped
}

// leastIntents are kept without looking whether they have ended.
const leastIntents = 64

func (s *intents) alive(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, ok := s.byKey[key]
	if ok && time.Now().After(until) {
		delete(s.byKey, key)
		return false
	}
	return ok
}

func (s *intents) set(key string, until time.Time) {
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

func (s *intents) clear(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byKey, key)
}

// tryExclusive makes one attempt to write.
func (l *Lock) tryExclusive(ctx context.Context, k *keySet, r request) (*lease, error) {
	queued := l.intents.alive(k.name)
	if queued {
		r.member, r.ticket = l.memberNamed("x:", "try"), time.Now().UnixMicro()
	}
	a := l.newAttempt(k, r)
	got, err := a.run(ctx)
	switch {
	case errors.Is(err, lockimpl.ErrHeld) && a.byReaders():
		l.intents.set(k.name, time.Now().Add(l.cfg.Patience))
	case queued:
		l.intents.clear(k.name)
		l.quitQueue(a)
	}
	return got, err
}

// byReaders reports whether readers stood in the way.
func (a *attempt) byReaders() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count(func(s *slot) bool { return s.kind == heldByReaders }) > 0
}
