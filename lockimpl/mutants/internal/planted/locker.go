// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/mutants/internal/planted/node"
)

// A Locker is a Lock behind the interfaces of the package lockimpl, all of
// them, for those who compare locks.
type Locker struct{ *Lock }

// NewFactory returns a Factory of Lockers that share cfg.
func NewFactory(cfg Config) lockimpl.Factory {
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		l, err := NewLocker(nodes, cfg)
		if err != nil {
			return nil, err
		}
		return l, nil
	}
}

// NewLocker returns a Locker over nodes, which it reaches by Node.Dial where
// that is set.
func NewLocker(nodes []lockimpl.Node, cfg Config) (*Locker, error) {
	l, err := newOver(nodes, cfg)
	if err != nil {
		return nil, err
	}
	return &Locker{l}, nil
}

func newOver(nodes []lockimpl.Node, cfg Config) (*Lock, error) {
	names, addrs := map[string]bool{}, map[string]bool{}
	configs := make([]node.Config, len(nodes))
	for i, n := range nodes {
		if n.Addr == "" && n.Dial == nil {
			return nil, misconfigured(fmt.Errorf("node %d has no address", i))
		}
		if n.Name != "" && names[n.Name] || n.Addr != "" && addrs[n.Addr] {
			return nil, misconfigured(fmt.Errorf("node %s %s appears twice", n.Name, n.Addr))
		}
		names[n.Name], addrs[n.Addr] = true, true
		opt := &redis.Options{Addr: n.Addr, Dialer: n.Dial, DisableIdentity: true}
		if n.Dial == nil { // nobody has logged in
			opt.Username, opt.Password, opt.DB = n.Username, n.Password, n.DB
		}
		configs[i] = node.Config{Name: n.Name, Options: opt}
	}
	return newLock(cfg, configs)
}

// LeaseKeys implements lockimpl.KeyLister.
func (l *Lock) LeaseKeys(key string) []string {
	k := l.keys(key)
	return []string{k.Lock, k.Readers}
}

// Acquire implements lockimpl.Locker.
func (l *Locker) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return behind(l.Lock.Acquire(ctx, key, ttl))
}

// AcquireWait implements lockimpl.WaitLocker.
func (l *Locker) AcquireWait(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return behind(l.Lock.AcquireWait(ctx, key, ttl))
}

// AcquireShared implements lockimpl.SharedLocker.
func (l *Locker) AcquireShared(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return behind(l.Lock.AcquireShared(ctx, key, ttl))
}

// AcquireSharedWait is AcquireWait for a reader.
func (l *Locker) AcquireSharedWait(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return behind(l.Lock.AcquireSharedWait(ctx, key, ttl))
}

// AcquireFair implements lockimpl.FairLocker.
func (l *Locker) AcquireFair(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return behind(l.Lock.AcquireFair(ctx, key, ttl))
}

// AcquireAs implements lockimpl.ReentrantLocker.
func (l *Locker) AcquireAs(ctx context.Context, owner, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return behind(l.Lock.AcquireAs(ctx, owner, key, ttl))
}

// AcquireAll implements lockimpl.MultiLocker.
func (l *Locker) AcquireAll(ctx context.Context, keys []string, ttl time.Duration) ([]lockimpl.Lease, error) {
	return behindAll(l.Lock.AcquireAll(ctx, keys, ttl))
}

// AcquireAllWait waits until it holds all of keys.
func (l *Locker) AcquireAllWait(ctx context.Context, keys []string, ttl time.Duration) ([]lockimpl.Lease, error) {
	return behindAll(l.Lock.AcquireAllWait(ctx, keys, ttl))
}

// held is a Lease behind the interfaces of lockimpl.
type held struct{ *Lease }

// Renew implements lockimpl.Renewer.
func (h held) Renew(observe func(lockimpl.Renewal)) { h.e.renew(context.Background(), observe) }

func behind(got *Lease, err error) (lockimpl.Lease, error) {
	if err != nil {
		return nil, err
	}
	return held{got}, nil
}

func behindAll(got []*Lease, err error) ([]lockimpl.Lease, error) {
	if err != nil {
		return nil, err
	}
	all := make([]lockimpl.Lease, len(got))
	for i := range got {
		all[i] = held{got[i]}
	}
	return all, nil
}
