package adapt_test

import (
	"context"
	"strings"
	"testing"
	"time"

	redigo "github.com/gomodule/redigo/redis"
	"github.com/redis/go-redis/v9"

	"github.com/alicebob/miniredis/v2"

	"locktorture/lockimpl"
	"locktorture/lockimpl/adapt"
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
