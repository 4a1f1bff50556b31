package yours

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"locktorture/cmd/torture/app"
	"locktorture/lockimpl"
	"locktorture/lockimpl/adapt"
)

// TestRedsync plays a library, built by its own constructor on three masters.
func TestRedsync(t *testing.T) {
	app.Test(t, adapt.GoRedisEach(func(rdbs []redis.UniversalClient) lockimpl.Locker {
		var pools []redsyncredis.Pool
		for _, rdb := range rdbs {
			pools = append(pools, goredis.NewPool(rdb))
		}
		rs := redsync.New(pools...)
		return adapt.Func(func(ctx context.Context, key string, ttl time.Duration) (adapt.Release, error) {
			m := rs.NewMutex(key, redsync.WithExpiry(ttl))
			err := m.TryLockContext(ctx)
			if _, taken := errors.AsType[*redsync.ErrTaken](err); taken {
				return nil, lockimpl.ErrHeld
			}
			return func(ctx context.Context) error {
				_, err := m.UnlockContext(ctx)
				if _, taken := errors.AsType[*redsync.ErrTaken](err); taken {
					return lockimpl.ErrLost
				}
				return err
			}, err
		})
	}), app.Named("calm").For(5*time.Second).With("nodes", "3").With("faults", "latency:for=1s"))
}
