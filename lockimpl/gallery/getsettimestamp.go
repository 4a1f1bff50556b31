package gallery

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
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
// Acquire: SETNX key stamp, where stamp is the client's own time plus the TTL
// plus 1,000 ms of tolerance, in milliseconds, as 8 bytes. When that took,
// (P)EXPIRE key ttl. When the key exists, GET it; only if the stamp found is
// below the client's own time, GETSET key stamp; the lock is won if the old value
// is the one found, and then (P)EXPIRE key ttl. A lost GETSET has overwritten the
// winner's stamp. Release: DEL key, without a look. The tolerance is not scaled.
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
	return onFirst(func(m master) lockimpl.Locker { return getSetTimestamp{stamped{m, now}} })
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

type getSetTimestamp struct{ stamped }

func (l getSetTimestamp) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	start := time.Now()
	ok, err := l.acquire(ctx, key, l.now().Add(ttl+stampTolerance))
	if err == nil && ok {
		err = l.rdb.PExpire(ctx, key, ttl).Err()
	}
	return granted(ok, err, &lease{until: start.Add(ttl), release: l.del(key)})
}

// acquire stamps key, or takes a stamp that has passed over, and reports whether
// the lock is the caller's.
func (l getSetTimestamp) acquire(ctx context.Context, key string, end time.Time) (bool, error) {
	stamp := stampBytes(end)
	ok, err := l.setNX(ctx, key, stamp)
	if err != nil || ok {
		return ok, err
	}
	found, passed, err := l.passed(ctx, key)
	if err != nil || !passed {
		return false, err
	}
	old, err := l.rdb.Do(ctx, "GETSET", key, stamp).Text()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil && old == found, err
}

// A stamped lock keeps the end of its lease, by its taker's clock, in its key.
type stamped struct {
	master
	now func() time.Time // the client's clock
}

// passed gets key's stamp and reports whether it is below the client's time.
func (l stamped) passed(ctx context.Context, key string) (found string, passed bool, err error) {
	found, err = l.rdb.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	if len(found) != stampSize {
		return "", false, fmt.Errorf("stamp of %d bytes: want %d", len(found), stampSize)
	}
	end := int64(binary.BigEndian.Uint64([]byte(found)))
	return found, end < l.now().UnixMilli(), nil
}

// stampSize is the length of a stamp in bytes.
const stampSize = 8

// stampBytes is t in milliseconds, as 8 bytes, the highest first.
func stampBytes(t time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(t.UnixMilli()))
}
