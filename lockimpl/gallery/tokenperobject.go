package gallery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"locktorture/lockimpl"
)

// errLocked is an object's answer to whoever locks it twice.
var errLocked = errors.New("this object is locked already")

// TokenPerObject is the recipe `token-per-object`: the published final version
// of the lock with an owner token, as a class. A lock object, one for each key
// of a client, draws one token when it is made and uses it for every
// acquisition.
//
// Acquire: when the object's flag is up, an error, and nothing is sent.
// Otherwise SET key token NX EX ttl (PX where ttl is not in whole seconds), and
// when that took, raise the flag. Release: lower the flag first; then GET, compare
// the token and DEL, in one script, whose reply is ignored. Nothing is scaled.
//
// Flaw: a token that serves twice tells the object from others, not one
// acquisition from the next. A release that is held up on its way, and gives its
// caller an error, deletes what the same object has acquired meanwhile; a third
// client gets in beside it (S1).
//
// Shown by: delaying a release on its way until its object holds again.
// Corrected by: `token-lua`, which draws a token for each acquisition.
func TokenPerObject() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker {
		return &tokenPerObject{master: m, objects: make(map[string]*lockObject)}
	})
}

func tokenPerObjectRecipe() Recipe {
	return Recipe{
		ID: "token-per-object", Unchecked: true,
		Flaw:        "one token for all acquisitions of an object: its own late release deletes its next lock",
		Needs:       "delay a release on its way until its object holds again",
		Expected:    []string{"S1"},
		CorrectedBy: "token-lua",
		Nodes:       1,
		Factory:     TokenPerObject(),
	}
}

type tokenPerObject struct {
	master

	mu      sync.Mutex
	objects map[string]*lockObject // by key
}

// A lockObject is what a user of the recipe makes once for a key.
type lockObject struct {
	master
	key, token string

	mu     sync.Mutex
	locked bool
}

// object is the client's object for key.
func (l *tokenPerObject) object(key string) *lockObject {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.objects[key]
	if o == nil {
		o = &lockObject{master: l.master, key: key, token: newToken()}
		l.objects[key] = o
	}
	return o
}

func (l *tokenPerObject) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.object(key).lock(ctx, ttl)
}

func (o *lockObject) lock(ctx context.Context, ttl time.Duration) (lockimpl.Lease, error) {
	if o.isLocked() {
		return nil, fmt.Errorf("%w: %w", errLocked, lockimpl.ErrHeld)
	}
	start := time.Now()
	ok, err := o.rdb.SetNX(ctx, o.key, o.token, ttl).Result()
	if err == nil && ok {
		o.mark(true)
	}
	return granted(ok, err, &lease{until: start.Add(ttl), release: o.unlock})
}

func (o *lockObject) unlock(ctx context.Context) error {
	o.mark(false)
	return letGo(ctx, o.rdb, o.key, o.token)
}

func (o *lockObject) isLocked() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.locked
}

func (o *lockObject) mark(locked bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.locked = locked
}
