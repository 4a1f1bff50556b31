package adapt_test

import (
	"context"
	"errors"
	"testing"
	"time"

	redigo "github.com/gomodule/redigo/redis"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"locktorture/lockimpl"
	"locktorture/lockimpl/adapt"
	"locktorture/lockimpl/internal/redistest"
)

// what a lock needs of its client.
type client interface {
	setNX(ctx context.Context, key string, ttl time.Duration) (bool, error)
	del(ctx context.Context, key string) error
}

func lockOn(c client) lockimpl.Locker {
	return adapt.Func(func(ctx context.Context, key string, ttl time.Duration) (adapt.Release, error) {
		set, err := c.setNX(ctx, key, ttl)
		if err == nil && !set {
			return nil, lockimpl.ErrHeld
		}
		return func(ctx context.Context) error { return c.del(ctx, key) }, err
	})
}

type goRedis struct{ redis.UniversalClient }

func (c goRedis) setNX(ctx context.Context, key string, ttl time.Duration) (bool, error) {
	err := c.SetArgs(ctx, key, "x", redis.SetArgs{Mode: "NX", TTL: ttl}).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}
func (c goRedis) del(ctx context.Context, key string) error { return c.Del(ctx, key).Err() }

type rueidisClient struct{ rueidis.Client }

func (c rueidisClient) setNX(ctx context.Context, key string, ttl time.Duration) (bool, error) {
	err := c.Do(ctx, c.B().Set().Key(key).Value("x").Nx().Px(ttl).Build()).Error()
	if rueidis.IsRedisNil(err) {
		return false, nil
	}
	return err == nil, err
}
func (c rueidisClient) del(ctx context.Context, key string) error {
	return c.Do(ctx, c.B().Del().Key(key).Build()).Error()
}

type redigoPool struct{ *redigo.Pool }

func (p redigoPool) do(ctx context.Context, command string, args ...any) (any, error) {
	c, err := p.GetContext(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	return redigo.DoContext(c, ctx, command, args...)
}
func (p redigoPool) setNX(ctx context.Context, key string, ttl time.Duration) (bool, error) {
	reply, err := p.do(ctx, "SET", key, "x", "NX", "PX", ttl.Milliseconds())
	return reply != nil, err
}
func (p redigoPool) del(ctx context.Context, key string) error {
	_, err := p.do(ctx, "DEL", key)
	return err
}

// A lock on any of the clients is granted once, refused meanwhile, and granted
// again after its release.
func TestAdapters(t *testing.T) {
	for name, factory := range map[string]lockimpl.Factory{
		"go-redis":      adapt.GoRedis(func(c redis.UniversalClient) lockimpl.Locker { return lockOn(goRedis{c}) }),
		"go-redis each": adapt.GoRedisEach(func(all []redis.UniversalClient) lockimpl.Locker { return lockOn(goRedis{all[0]}) }),
		"rueidis":       adapt.Rueidis(func(c rueidis.Client) lockimpl.Locker { return lockOn(rueidisClient{c}) }),
		"redigo":        adapt.Redigo(func(p *redigo.Pool) lockimpl.Locker { return lockOn(redigoPool{p}) }),
	} {
		t.Run(name, func(t *testing.T) {
			node := lockimpl.Node{Name: "n1", Addr: redistest.Start(t).Options().Addr}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			first, second := build(t, factory, node), build(t, factory, node)
			began := time.Now()
			lease, err := first.Acquire(ctx, "k", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if until := lease.ValidUntil(); until.Before(began.Add(time.Minute)) || until.After(time.Now().Add(time.Minute)) {
				t.Errorf("valid until %v", until)
			}
			if _, err := second.Acquire(ctx, "k", time.Minute); !errors.Is(err, lockimpl.ErrHeld) {
				t.Errorf("a key that is held: %v", err)
			}
			if err := lease.Extend(ctx, time.Minute); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("extend: %v", err)
			}
			if err := lease.Release(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := second.Acquire(ctx, "k", time.Minute); err != nil {
				t.Errorf("after the release: %v", err)
			}
			for _, l := range []lockimpl.Locker{first, second} {
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
			if _, err := first.Acquire(ctx, "k2", time.Minute); err == nil {
				t.Error("its client was not closed")
			}
		})
	}
}

func build(t *testing.T, f lockimpl.Factory, n lockimpl.Node) lockimpl.Locker {
	t.Helper()
	l, err := f([]lockimpl.Node{n})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A lock on one client is refused several masters, and any none.
func TestMastersThatDoNotFit(t *testing.T) {
	one := adapt.GoRedis(func(c redis.UniversalClient) lockimpl.Locker { return lockOn(goRedis{c}) })
	if _, err := one(make([]lockimpl.Node, 3)); err == nil {
		t.Error("three masters for one client")
	}
	each := adapt.GoRedisEach(func(all []redis.UniversalClient) lockimpl.Locker { return lockOn(goRedis{all[0]}) })
	for _, f := range []lockimpl.Factory{one, each} {
		if _, err := f(nil); err == nil {
			t.Error("no master")
		}
	}
}
