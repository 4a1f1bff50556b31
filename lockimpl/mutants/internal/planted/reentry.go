// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// AcquireAs makes one attempt to take key for an owner. Re-entry is a matter of this client
// alone: nothing about it is kept on the servers. An owner that holds the key
// through this Lock is granted it again, with the same token, and extended
// when ttl reaches further than the lease does; the last release frees it. All
// grants to one owner are one lease, of which Err, Lost, Context, Extend and Renew
// of each speak: it goes on until the last of them is released.
func (l *Lock) AcquireAs(ctx context.Context, owner, key string, ttl time.Duration) (*Lease, error) {
	began := time.Now()
	e, h, err := l.enter(ctx, owner, key, ttl)
	got, err := l.granted(ctx, key, began, e, err)
	if err != nil {
		return nil, err
	}
	got.entry = &entry{all: &l.holdings, h: h}
	return got, nil
}

// enter returns what owner holds on key, counted once more.
func (l *Lock) enter(ctx context.Context, owner, key string, ttl time.Duration) (*lease, *holding, error) {
	if owner == "" {
		return nil, nil, fmt.Errorf("acquire: %w: empty owner", ErrMisconfigured)
	}
	if err := l.admissible(ctx, l.keys(key), request{ttl: ttl}); err != nil {
		return nil, nil, err
	}
	h, err := l.holdings.enter(ctx, holder{owner, key})
	if err != nil {
		return nil, nil, notAsked(key, err) // another call of the owner's is at it
	}
	defer l.holdings.exit(h)
	if h.count > 0 && h.lease.valid() {
		return h.lease, h, h.again(ctx, ttl)
	}
	got, err := l.tryExclusive(ctx, l.keys(key), request{ttl: ttl})
	if err != nil {
		return nil, nil, err
	}
	if lost := h.lease; lost != nil { // nobody gives it back for as long as another is held in its place
		if !l.spawn(lost.abandon) {
			lost.abandon()
		}
	}
	h.lease, h.count = got, 1
	return got, h, nil
}

type holder struct{ owner, key string }

// A holding is what one owner holds on one key, however often.
type holding struct {
	who   holder
	users int           // calls that are at it; guarded by holdings.mu
	busy  chan struct{} // holds a token while one of them is in
	lease *lease
	count int // guarded by the token
}

// holdings finds them, and forgets those that nobody holds or works at.
type holdings struct {
	mu    sync.Mutex
	byWho map[holder]*holding
}

// enter returns the holding of who, for the caller alone until exit.
func (s *holdings) enter(ctx context.Context, who holder) (*holding, error) {
	s.mu.Lock()
	if s.byWho == nil {
		s.byWho = map[holder]*holding{}
	}
	h := s.byWho[who]
	if h == nil {
		h = &holding{who: who, busy: make(chan struct{}, 1)}
		s.byWho[who] = h
	}
	h.users++
	s.mu.Unlock()
	select {
	case h.busy <- struct{}{}:
		return h, nil
	case <-ctx.Done():
		s.leave(h)
		return nil, ctx.Err()
	}
}

func (s *holdings) exit(h *holding) {
	<-h.busy
	s.leave(h)
}

// leave forgets a holding that nobody holds or works at: whoever waited for it may have
// taken the key meanwhile.
func (s *holdings) leave(h *holding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.users--; h.users == 0 && h.count == 0 {
		delete(s.byWho, h.who)
	}
}

// again grants the key once more.
func (h *holding) again(ctx context.Context, ttl time.Duration) error {
	if time.Now().Add(validity(ttl)).After(h.lease.ValidUntil()) {
		if err := h.lease.Extend(ctx, ttl); err != nil {
			return fmt.Errorf("acquire %s again: %w", shown(h.who.key), err)
		}
	}
	if !h.lease.l.bugs.Uncounted {
		h.count++
	}
	return nil
}
