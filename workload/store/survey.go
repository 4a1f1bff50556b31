package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// sampleSize is how many key names a Survey gives as examples.
const sampleSize = 5

// A Survey says what a Redis holds.
type Survey struct {
	Keys   int64    // in its first database
	Sample []string // a few of their names, sorted
}

// Clean reports whether nothing is there.
func (s Survey) Clean() bool { return s.Keys == 0 }

func (s Survey) String() string {
	if s.Clean() {
		return "no keys"
	}
	return fmt.Sprintf("%d keys, among them %s", s.Keys, strings.Join(s.Sample, ", "))
}

// Look surveys the Redis that dial leads to: a guarded store or a node.
func Look(ctx context.Context, dial func(ctx context.Context) (net.Conn, error)) (Survey, error) {
	rdb := Connect(dial)
	defer rdb.Close()
	return survey(ctx, rdb)
}

// Survey says what the store's Redis holds.
func (c *Client) Survey(ctx context.Context) (Survey, error) { return survey(ctx, c.rdb) }

func survey(ctx context.Context, rdb *redis.Client) (s Survey, err error) {
	if s.Keys, err = rdb.DBSize(ctx).Result(); err != nil {
		return s, fmt.Errorf("count keys: %w", err)
	}
	for scan := rdb.Scan(ctx, 0, "*", 100).Iterator(); len(s.Sample) < sampleSize && scan.Next(ctx); err = scan.Err() {
		s.Sample = append(s.Sample, scan.Val())
	}
	if err != nil {
		return s, fmt.Errorf("sample keys: %w", err)
	}
	slices.Sort(s.Sample)
	return s, nil
}

// Reset deletes the store's own rows, count and log, and nothing else: the
// Redis may be somebody's.
func (c *Client) Reset(ctx context.Context) error {
	scan := c.rdb.Scan(ctx, 0, prefix+"*", 1000).Iterator()
	for scan.Next(ctx) {
		if err := c.rdb.Del(ctx, scan.Val()).Err(); err != nil {
			return fmt.Errorf("delete %s: %w", scan.Val(), err)
		}
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("find the store's keys: %w", err)
	}
	return nil
}

// A Found is what a Redis holds under one key.
type Found struct {
	Key    string
	PTTL   time.Duration // time left; NoExpiry or Absent
	Holder string        // the stored text; of a hash its fields, of a sorted set its members
}

// Values of Found.PTTL that are no time.
const (
	NoExpiry time.Duration = -1
	Absent   time.Duration = -2
)

// Peek looks at keys of the Redis that dial leads to, in their order.
func Peek(ctx context.Context, dial func(ctx context.Context) (net.Conn, error), keys []string) ([]Found, error) {
	rdb := Connect(dial)
	defer rdb.Close()
	found := make([]Found, 0, len(keys))
	for _, key := range keys {
		f, err := peek(ctx, rdb, key)
		if err != nil {
			return found, fmt.Errorf("look at %s: %w", key, err)
		}
		found = append(found, f)
	}
	return found, nil
}

func peek(ctx context.Context, rdb *redis.Client, key string) (f Found, err error) {
	f.Key = key
	if f.PTTL, err = rdb.PTTL(ctx, key).Result(); err != nil || f.PTTL == Absent {
		return f, err
	}
	f.Holder, err = holder(ctx, rdb, key)
	return f, err
}

// holder reads what is stored under key, whatever its type. A key that expired
// since it was seen has none.
func holder(ctx context.Context, rdb *redis.Client, key string) (string, error) {
	kind, err := rdb.Type(ctx, key).Result()
	if err != nil {
		return "", err
	}
	switch kind {
	case "string":
		text, err := rdb.Get(ctx, key).Result()
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		return text, err
	case "hash":
		fields, err := rdb.HGetAll(ctx, key).Result()
		var pairs []string
		for name, value := range fields {
			pairs = append(pairs, name+"="+value)
		}
		slices.Sort(pairs)
		return strings.Join(pairs, " "), err
	case "zset":
		members, err := rdb.ZRange(ctx, key, 0, -1).Result()
		return strings.Join(members, " "), err
	default:
		return kind, nil
	}
}
