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
	f.PTTL, err = rdb.PTTL(ctx, key).Result()
	if _, elsewhere := redis.IsMovedError(err); elsewhere { // another server of a Redis Cluster has its slot
		f.PTTL, err = Absent, nil
	}
	if err != nil || f.PTTL == Absent {
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
	if kind != "string" && !slices.Contains(collections, kind) {
		return kind, nil
	}
	c := Read(ctx, rdb, kind, key)
	if err := c.Err(); !errors.Is(err, redis.Nil) {
		return Text(c), err
	}
	return "", nil
}

// collections are the types of keys, beside strings, that Read reads.
var collections = []string{"hash", "zset", "set", "list"}

// Read asks for what is stored under a key of some type, one of Redis's names;
// any but hash, zset, set and list is read as a string. The answer is Text's.
func Read(ctx context.Context, c redis.Cmdable, kind, name string) redis.Cmder {
	switch kind {
	case "hash":
		return c.HGetAll(ctx, name)
	case "zset":
		return c.ZRange(ctx, name, 0, -1)
	case "set":
		return c.SMembers(ctx, name)
	case "list":
		return c.LRange(ctx, name, 0, -1)
	}
	return c.Get(ctx, name)
}

// Text is what Read has found, on one line: of a hash its fields, sorted, of other
// collections their members.
func Text(c redis.Cmder) string {
	switch c := c.(type) {
	case *redis.StringCmd:
		return c.Val()
	case *redis.StringSliceCmd:
		return strings.Join(c.Val(), " ")
	case *redis.MapStringStringCmd:
		var fields []string
		for name, value := range c.Val() {
			fields = append(fields, name+"="+value)
		}
		slices.Sort(fields)
		return strings.Join(fields, " ")
	}
	return ""
}
