package gallery

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

var deleteScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('DEL', KEYS[1])
end
return 0`)

var expireScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0`)

// compareAndDelete deletes key when it bears token, in one step, and reports
// whether it did.
func compareAndDelete(ctx context.Context, rdb *redis.Client, key, token string) (bool, error) {
	return deleteScript.Run(ctx, rdb, []string{key}, token).Bool()
}

// compareAndExpire sets key's expiry when it bears token, in one step, and
// reports whether it did.
func compareAndExpire(ctx context.Context, rdb *redis.Client, key, token string, ttl time.Duration) (bool, error) {
	return expireScript.Run(ctx, rdb, []string{key}, token, ttl.Milliseconds()).Bool()
}
