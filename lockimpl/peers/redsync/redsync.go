// Package redsync puts github.com/go-redsync/redsync/v4 v4.18.0 under test.
//
// Promise: Redlock over N masters, all asked at once; validity = expiry −
// elapsed − 1 % drift, known to the caller as Until. Each node is given 5 % of
// the expiry to answer.
//
// Lacks: fencing tokens, renewal, a notice of loss, waiting other than by
// polling. The time-out per node is a context's, which go-redis does not heed
// unless ContextTimeoutEnabled is set; redsync waits for the answers of all
// nodes, so that one silent node can use up the whole validity. The undo of an
// attempt runs on the attempt's own context: cancelled with it, it leaves keys.
package redsync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	lib "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/conn"
)

// Options are what redsync leaves to its user and matters here.
type Options struct {
	// ContextTimeouts makes the go-redis clients heed redsync's time-out per
	// node. It is off by default, as it is in go-redis.
	ContextTimeouts bool
}

var errNoNodes = errors.New("redsync needs at least one node")

// New returns the factory of lockers over all nodes.
func New(o Options) lockimpl.Factory {
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		if len(nodes) == 0 {
			return nil, errNoNodes
		}
		l := &locker{}
		pools := make([]lib.Pool, len(nodes))
		for i, n := range nodes {
			opt := conn.Options(n)
			opt.ContextTimeoutEnabled = o.ContextTimeouts
			rdb := redis.NewClient(opt)
			l.rdbs, pools[i] = append(l.rdbs, rdb), goredis.NewPool(rdb)
		}
		l.rs = redsync.New(pools...)
		return l, nil
	}
}

type locker struct {
	rs      *redsync.Redsync
	rdbs    []*redis.Client
	options []redsync.Option // of every mutex, beside its expiry
}

// LeaseKeys implements lockimpl.KeyLister.
func (*locker) LeaseKeys(key string) []string { return []string{key} }

func (l *locker) Close() error {
	var err error
	for _, rdb := range l.rdbs {
		err = errors.Join(err, rdb.Close())
	}
	return err
}

// Acquire makes one try. It refuses definitely when a majority of the nodes
// said that the lock is taken.
func (l *locker) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	m := l.rs.NewMutex(key, append([]redsync.Option{redsync.WithExpiry(ttl)}, l.options...)...)
	if err := m.TryLockContext(ctx); err != nil {
		if _, taken := errors.AsType[*redsync.ErrTaken](err); taken {
			return nil, lockimpl.ErrHeld
		}
		return nil, fmt.Errorf("try lock: %w", inOrder(err))
	}
	return &lease{m: m, ttl: ttl}, nil
}

// A lease guards what redsync's Mutex leaves unguarded: an extension writes
// what Until reads.
type lease struct {
	ttl time.Duration
	mu  sync.Mutex
	m   *redsync.Mutex
}

func (*lease) Fence() uint64 { return 0 }

func (l *lease) ValidUntil() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.m.Until()
}

// Extend renews for the expiry that the mutex was made with: redsync knows no
// other.
func (l *lease) Extend(ctx context.Context, ttl time.Duration) error {
	if ttl != l.ttl {
		return fmt.Errorf("extend by %v what was taken for %v: %w", ttl, l.ttl, errors.ErrUnsupported)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ok, err := l.m.ExtendContext(ctx)
	return outcome("extend", ok, err)
}

func (l *lease) Release(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	ok, err := l.m.UnlockContext(ctx)
	return outcome("unlock", ok, err)
}

// outcome is ErrLost when every node that did not agree said that the lock is
// another's or gone.
func outcome(verb string, ok bool, err error) error {
	if ok {
		return nil
	}
	_, silent := errors.AsType[*redsync.RedisError](err)
	if _, taken := errors.AsType[*redsync.ErrTaken](err); taken || !silent && errors.Is(err, redsync.ErrLockAlreadyExpired) {
		return lockimpl.ErrLost
	}
	return fmt.Errorf("%s: %w", verb, errors.Join(inOrder(err), errNoMajority))
}

// inOrder joins what redsync has joined in the order in which its goroutines ended, sorted, so
// that a simulation repeats.
func inOrder(err error) error {
	all := parts(err)
	slices.SortStableFunc(all, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(all...)
}

func parts(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, parts(e)...)
	}
	return all
}

var errNoMajority = errors.New("no majority of nodes agreed")
