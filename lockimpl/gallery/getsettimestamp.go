package gallery

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
)

// stampTolerance is what the recipe adds to a lease's end for the disagreement
// of the clients' clocks.
const stampTolerance = time.Second

// GetSetTimestamp is the recipe `getset-timestamp`, for a client whose clock is
// now.
//
// Acquire: SETNX key stamp, where stamp is the end of the lease by the client's
// own clock plus one second of tolerance. When the key exists, GET it; when the
// stamp found has passed by the client's own clock, GETSET key stamp, and hold
// the lock if the old value is still the one found. Then EXPIRE key ttl.
// Release: DEL key.
//
// Flaws: a client whose clock is ahead by more than the tolerance takes a lock
// that is held (S1). The loser of the GETSET race has overwritten the winner's
// stamp. DEL frees anybody's lock: a late release lets a third client in beside
// the second (S5).
//
// Shown by: skewing a client's clock beyond the tolerance; a late release.
// Corrected by: `token-lua`, which leaves the time to the server and compares
// an owner token at release.
func GetSetTimestamp(now func() time.Time) lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return getSetTimestamp{m, now} })
}

func getSetTimestampRecipe() Recipe {
	return Recipe{
		ID: "getset-timestamp", Unchecked: true,
		Flaw:        "trusts the clients' clocks, and no owner: a late release frees the next holder's lock",
		Needs:       "skew a client's clock beyond ttl + 1 s; pause the holder beyond the TTL, and let it release",
		Expected:    []string{"S1", "S5"},
		CorrectedBy: "token-lua",
		Nodes:       1,
		Factory:     GetSetTimestamp(time.Now),
		WithClock:   GetSetTimestamp,
	}
}

type getSetTimestamp struct {
	master
	now func() time.Time
}

func (l getSetTimestamp) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	start := time.Now()
	ok, err := l.take(ctx, key, l.now().Add(ttl+stampTolerance).UnixMilli())
	if err == nil && ok {
		err = l.rdb.PExpire(ctx, key, ttl).Err()
	}
	return granted(ok, err, &lease{until: start.Add(ttl), release: l.del(key)})
}

// take stamps key, or takes a stamp that has passed over, and reports whether
// the lock is the caller's.
func (l getSetTimestamp) take(ctx context.Context, key string, stamp int64) (bool, error) {
	ok, err := l.rdb.SetNX(ctx, key, stamp, 0).Result()
	if err != nil || ok {
		return ok, err
	}
	found, err := l.rdb.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	end, err := strconv.ParseInt(found, 10, 64)
	if err != nil {
		return false, fmt.Errorf("read stamp: %w", err)
	}
	if end >= l.now().UnixMilli() {
		return false, nil
	}
	old, err := l.rdb.Do(ctx, "GETSET", key, stamp).Text()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil && old == found, err
}
