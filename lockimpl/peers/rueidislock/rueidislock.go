// Package rueidislock puts github.com/redis/rueidis/rueidislock v1.0.79 under
// test.
//
// Promise: a lock on one master (three keys of which two decide, the library's
// default, unless Options say otherwise), renewed by the library after every half of its validity. It tells
// its user no deadline: the lock is held as long as the context that it
// returned lives.
//
// Lacks: fencing tokens, an answer to a release, and bounds: giving up an
// attempt, and a release, wait for their deletes, on no context of the caller's,
// for up to a validity. A renewal that hangs ends the context when the new
// lease would have ended, not when the old one does. It sends absolute times of
// the client's clock (PXAT, PEXPIREAT).
package rueidislock

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/conn"
)

const (
	prefix   = "rueidislock" // the library's default
	majority = 2             // the library's default
)

var (
	errNoNodes = errors.New("rueidislock needs a node")
	errClosed  = errors.New("the locker is closed")
)

// Options are those of the library's that its documentation has people choose.
type Options struct {
	KeyMajority    int  // of 2·KeyMajority − 1 keys; 0 is the library's default, 2
	NoLoopTracking bool // no notices of a client's own changes: Redis 7.0.5 or later
}

// ForOneServer is what the library's README tells people to use with a single
// server.
var ForOneServer = Options{KeyMajority: 1, NoLoopTracking: true}

// New returns the factory of lockers on the first node.
func New(o Options) lockimpl.Factory {
	if o.KeyMajority == 0 {
		o.KeyMajority = majority
	}
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		if len(nodes) == 0 {
			return nil, errNoNodes
		}
		return &locker{node: nodes[0], options: o, by: make(map[time.Duration]rueidislock.Locker)}, nil
	}
}

// A locker has one of the library's lockers for every validity asked for: there
// the validity is the locker's, not the lock's.
type locker struct {
	node    lockimpl.Node
	options Options

	polls sync.WaitGroup // of all leases

	mu     sync.Mutex
	closed bool
	by     map[time.Duration]rueidislock.Locker
}

// LeaseKeys implements lockimpl.KeyLister.
func (l *locker) LeaseKeys(key string) []string {
	out := make([]string, 2*l.options.KeyMajority-1)
	for i := range out {
		out[i] = fmt.Sprintf("%s:%d:%s", prefix, i, key)
	}
	return out
}

// Extends implements lockimpl.ExtendLocker: the library extends by itself, and in no other way.
func (*locker) Extends() bool { return false }

// Close ends the contexts of all leases; what the library still has under way
// it does not wait for.
func (l *locker) Close() error {
	l.mu.Lock()
	l.closed = true
	for ttl, lib := range l.by {
		lib.Close()
		delete(l.by, ttl)
	}
	l.mu.Unlock()
	l.polls.Wait()
	return nil
}

// with returns the library's locker for ttl, connected.
func (l *locker) with(ttl time.Duration) (rueidislock.Locker, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errClosed
	}
	if lib := l.by[ttl]; lib != nil {
		return lib, nil
	}
	dial := conn.Dialer(l.node)
	lib, err := rueidislock.NewLocker(rueidislock.LockerOption{
		KeyValidity:    ttl,
		KeyMajority:    int32(l.options.KeyMajority),
		NoLoopTracking: l.options.NoLoopTracking,
		ClientOption: rueidis.ClientOption{
			InitAddress:       []string{l.node.Addr},
			ForceSingleClient: true,
			ClientSetInfo:     rueidis.DisableClientSetInfo,
			DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
				return dial(ctx, "tcp", addr)
			},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	l.by[ttl] = lib
	return lib, nil
}

// Acquire makes one try. The library bounds it.
func (l *locker) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.obtain(ctx, key, ttl, rueidislock.Locker.TryWithContext)
}

// AcquireWait implements lockimpl.WaitLocker: the library waits for the
// server's notice that the key has changed.
func (l *locker) AcquireWait(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.obtain(ctx, key, ttl, rueidislock.Locker.WithContext)
}

type method func(lib rueidislock.Locker, ctx context.Context, key string) (context.Context, context.CancelFunc, error)

// obtain gives the library a context that lasts as long as the lease and not
// only as the attempt: the library releases a lock whose context ends.
func (l *locker) obtain(ctx context.Context, key string, ttl time.Duration, take method) (lockimpl.Lease, error) {
	lib, err := l.with(ttl)
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	start := time.Now()
	held, release, err := take(lib, life, key)
	switch {
	case errors.Is(err, rueidislock.ErrNotLocked):
		stop()
		end()
		return nil, lockimpl.ErrHeld
	case err != nil:
		stop()
		end()
		return nil, fmt.Errorf("take lock: %w", err)
	case !stop():
		release()
		return nil, fmt.Errorf("take lock: %w", context.Cause(ctx))
	}
	return &lease{locker: l, held: held, release: func() { release(); end() }, start: start, ttl: ttl}, nil
}
