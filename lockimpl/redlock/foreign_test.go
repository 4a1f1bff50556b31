package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/redistest"
	"locktorture/lockimpl/redlock"
)

// asks are the ways to ask for a key.
var asks = map[string]func(ctx context.Context, l *redlock.Locker, key string) error{
	"acquire": func(ctx context.Context, l *redlock.Locker, key string) error {
		_, err := l.Acquire(ctx, key, time.Second)
		return err
	},
	"wait": func(ctx context.Context, l *redlock.Locker, key string) error {
		_, err := l.AcquireWait(ctx, key, time.Second)
		return err
	},
	"fair": func(ctx context.Context, l *redlock.Locker, key string) error {
		_, err := l.AcquireFair(ctx, key, time.Second)
		return err
	},
	"shared": func(ctx context.Context, l *redlock.Locker, key string) error {
		_, err := l.AcquireShared(ctx, key, time.Second)
		return err
	},
	"shared wait": func(ctx context.Context, l *redlock.Locker, key string) error {
		_, err := l.AcquireSharedWait(ctx, key, time.Second)
		return err
	},
}

// cannotBeMended fails the test unless every way to ask is told, at once and on one
// line, that waiting does not help, and why.
func cannotBeMended(t *testing.T, l *redlock.Locker, key, why string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, ask := range asks {
		err := ask(ctx, l, key)
		if !errors.Is(err, redlock.ErrNoQuorum) || !errors.Is(err, redlock.ErrMisconfigured) || errors.Is(err, redlock.ErrHeld) ||
			!strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "\n") || ctx.Err() != nil {
			t.Errorf("%s: %v, want ErrNoQuorum and ErrMisconfigured, %q", name, err, why)
		}
	}
}

// Whatever somebody else keeps under a key of the lock stays as it is; who asks is
// told so, and neither waits for it to go nor takes it for a lease.
func TestKeyThatHoldsSomethingElseIsRefusedAndKept(t *testing.T) {
	for name, addr := range map[string]func(t *testing.T) string{
		"server": func(t *testing.T) string { return serverNodes(t, 1)[0].Addr },
		"embedded": func(t *testing.T) string {
			m := miniredis.RunT(t)
			redistest.Identify(m)
			return m.Addr()
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := addr(t)
			c := redis.NewClient(&redis.Options{Addr: at})
			defer c.Close()
			for _, part := range []string{"lock", "fence", "node", "quarantine"} {
				for _, kind := range []string{"list", "string"} {
					t.Run(part+"/"+kind, func(t *testing.T) { foreign(t, c, at, part, kind) })
				}
			}
		})
	}
}

func foreign(t *testing.T, c *redis.Client, addr, part, kind string) {
	ctx := t.Context()
	if err := c.FlushAll(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	nodes := nodesAt([]string{addr})
	key := map[string]string{"lock": "lock:{k}:l", "node": "lock:node", "quarantine": "lock:quarantine"}[part]
	if part == "lock" || part == "fence" {
		l := bootstrapped(t, nodes, patient)
		if err := eventuallyGranted(t, l, "k").Release(ctx); err != nil {
			t.Fatal(err)
		}
		if part == "fence" {
			key = c.Keys(ctx, "lock:fence:*").Val()[0]
		}
	}
	c.Del(ctx, key)
	put, value := c.RPush(ctx, key, "mine").Err, func() string { return fmt.Sprint(c.LRange(ctx, key, 0, -1).Val()) }
	if kind == "string" {
		put, value = c.Set(ctx, key, "mine", 0).Err, func() string { return c.Get(ctx, key).Val() }
	}
	if err := put(); err != nil {
		t.Fatal(err)
	}
	was := value()
	l := client(t, nodes, patient)
	if part == "quarantine" { // nobody but those who admit looks at it
		if all, err := l.Admission(ctx); err != nil || !errors.Is(all[0].Err, redlock.ErrMisconfigured) || !strings.Contains(all[0].Err.Error(), "WRONGTYPE") {
			t.Errorf("admission: %v (%v), want ErrMisconfigured", all, err)
		}
	} else {
		cannotBeMended(t, l, "k", "WRONGTYPE the "+part+" key holds something else")
	}
	if got := value(); got != was {
		t.Errorf("%s held %q, and now %q", key, was, got)
	}
}

// A user who may not do what a script does: waiting does not mend that.
func TestUserWithoutACommandOfAScript(t *testing.T) {
	nodes := serverNodes(t, 1)
	c := redis.NewClient(&redis.Options{Addr: nodes[0].Addr})
	defer c.Close()
	bootstrapped(t, nodes, quick)
	for missing, why := range map[string]string{
		"mget": "script", "set": "script", "evalsha": "NOPERM", "info": "NOPERM", "script": "NOPERM",
	} {
		if err := c.Do(t.Context(), "ACL", "SETUSER", missing, "reset", "on", "nopass", "allkeys", "allchannels", "+@all", "-"+missing).Err(); err != nil {
			t.Fatal(err)
		}
		l, err := redlock.NewLocker([]lockimpl.Node{{Name: "n", Addr: nodes[0].Addr, Username: missing}}, quick)
		if err != nil {
			t.Fatal(err)
		}
		cannotBeMended(t, l, "k", why)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
