// Package yours is a program of somebody else's, with a lock of its own, and puts
// it under torture in its tests.
package yours

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	ErrTaken = errors.New("somebody else has the lock")
	ErrGone  = errors.New("the lock is not ours any more")
)

// Acquire takes key for ttl, and returns the token that gives it back.
func Acquire(ctx context.Context, rdb redis.UniversalClient, key string, ttl time.Duration) (token string, err error) {
	token = rand.Text()
	err = rdb.SetArgs(ctx, key, token, redis.SetArgs{Mode: "NX", TTL: ttl}).Err()
	if errors.Is(err, redis.Nil) {
		return "", ErrTaken
	}
	return token, err
}

var compareAndDelete = redis.NewScript(`
	if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
	return 0`)

// Release gives back what token was given for.
func Release(ctx context.Context, rdb redis.UniversalClient, key, token string) error {
	deleted, err := compareAndDelete.Run(ctx, rdb, []string{key}, token).Int()
	if err == nil && deleted == 0 {
		return ErrGone
	}
	return err
}
