package adapt_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	redigo "github.com/gomodule/redigo/redis"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/alicebob/miniredis/v2"

	"locktorture/lockimpl"
	"locktorture/lockimpl/adapt"
	"locktorture/lockimpl/internal/redistest"
)

// A node that nobody has logged in to is given its user, its password and its database.
func TestLogin(t *testing.T) {
	for name, factory := range map[string]lockimpl.Factory{
		"go-redis": adapt.GoRedis(func(c redis.UniversalClient) lockimpl.Locker { return lockOn(goRedis{c}) }),
		"redigo":   adapt.Redigo(func(p *redigo.Pool) lockimpl.Locker { return lockOn(redigoPool{p}) }),
	} {
		for _, user := range []string{"", "kim"} {
			m := miniredis.RunT(t)
			if m.RequireAuth("secret"); user != "" {
				m.RequireUserAuth(user, "secret")
			}
			l := build(t, factory, lockimpl.Node{Name: "n1", Addr: m.Addr(), Username: user, Password: "secret", DB: 3})
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			_, err := l.Acquire(ctx, "k", time.Minute)
			cancel()
			if err != nil || !m.DB(3).Exists("k") {
				t.Errorf("%s, user %q: %v", name, user, err)
			}
			_ = l.Close()
		}
	}
}

// An acquire that says nothing is told, and no lease.
func TestAnAcquireThatSaysNothing(t *testing.T) {
	l := adapt.Func(func(context.Context, string, time.Duration) (adapt.Release, error) { return nil, nil })
	if lease, err := l.Acquire(t.Context(), "k", time.Second); lease != nil || err == nil || !strings.Contains(err.Error(), "neither") {
		t.Errorf("%v, %v", lease, err)
	}
}

// A command whose connection breaks is not sent again behind the lock's back: what was
// recorded as one operation would be two.
func TestNoCommandIsSentTwice(t *testing.T) {
	for name, factory := range map[string]func(get *func(context.Context) error) lockimpl.Factory{
		"go-redis": func(get *func(context.Context) error) lockimpl.Factory {
			return adapt.GoRedis(func(c redis.UniversalClient) lockimpl.Locker {
				*get = func(ctx context.Context) error { return c.Get(ctx, "k").Err() }
				return lockOn(goRedis{c})
			})
		},
		"rueidis": func(get *func(context.Context) error) lockimpl.Factory {
			return adapt.Rueidis(func(c rueidis.Client) lockimpl.Locker {
				*get = func(ctx context.Context) error { return c.Do(ctx, c.B().Get().Key("k").Build()).Error() }
				return lockOn(rueidisClient{c})
			})
		},
		"redigo": func(get *func(context.Context) error) lockimpl.Factory {
			return adapt.Redigo(func(p *redigo.Pool) lockimpl.Locker {
				*get = func(ctx context.Context) error { _, err := redigoPool{p}.do(ctx, "GET", "k"); return err }
				return lockOn(redigoPool{p})
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := redistest.Start(t).Options().Addr
			var gets atomic.Int64
			dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
				var d net.Dialer
				c, err := d.DialContext(ctx, network, server)
				return breaking{c, &gets}, err
			}
			var get func(context.Context) error
			l := build(t, factory(&get), lockimpl.Node{Name: "n1", Addr: server, Dial: dial})
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if err := get(ctx); err == nil || gets.Load() != 1 {
				t.Errorf("sent %d times, answered %v", gets.Load(), err)
			}
			_ = l.Close()
		})
	}
}

// A breaking connection ends with the first GET that is written.
type breaking struct {
	net.Conn
	gets *atomic.Int64
}

func (b breaking) Write(p []byte) (int, error) {
	if strings.Contains(strings.ToUpper(string(p)), "\r\nGET\r\n") && b.gets.Add(1) == 1 {
		_ = b.Conn.Close()
		return len(p), nil
	}
	return b.Conn.Write(p)
}
