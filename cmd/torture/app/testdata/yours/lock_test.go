package yours

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/cmd/torture/app"
	"locktorture/lockimpl"
	"locktorture/lockimpl/adapt"
)

// underTest is the lock as the harness sees it.
func underTest(release func(ctx context.Context, rdb redis.UniversalClient, key, token string) error) lockimpl.Factory {
	return adapt.GoRedis(func(rdb redis.UniversalClient) lockimpl.Locker {
		return adapt.Func(func(ctx context.Context, key string, ttl time.Duration) (adapt.Release, error) {
			token, err := Acquire(ctx, rdb, key, ttl)
			if errors.Is(err, ErrTaken) {
				return nil, lockimpl.ErrHeld
			}
			return func(ctx context.Context) error {
				if err := release(ctx, rdb, key, token); !errors.Is(err, ErrGone) {
					return err
				}
				return lockimpl.ErrLost
			}, err
		})
	})
}

// late delivers releases only after their leases have run out, when somebody else
// has the lock.
var late = app.Named("calm").For(15*time.Second).With("ttl", "2s").With("hold", "1200ms").With("keys", "1").With("clients", "4").
	With("faults", "zombie:all:on=release-sent:times=4:every=3s:for=1200ms")

// TestLock plays the lock as it is.
func TestLock(t *testing.T) { app.Test(t, underTest(Release), late) }

// TestPlanted plays it with a bug, and is to fail: a release that comes late
// deletes the lock of whoever has it by then.
func TestPlanted(t *testing.T) {
	if os.Getenv("YOURS_PLANTED") == "" {
		t.Skip("the planted bug is looked for with YOURS_PLANTED=1")
	}
	app.Test(t, underTest(func(ctx context.Context, rdb redis.UniversalClient, key, _ string) error {
		return rdb.Del(ctx, key).Err()
	}), late)
}
