package gallery

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
)

// The scripts see KEYS[1], the hash. ARGV[1] is the field, "read" or "write",
// ARGV[2] the caller's stamp, ARGV[3] the time-out; both in milliseconds.
var (
	stampTake = redis.NewScript(`
local function taken(field)
	local stamp = redis.call('HGET', KEYS[1], field)
	return stamp and tonumber(ARGV[2]) - tonumber(stamp) < tonumber(ARGV[3])
end
if taken('write') or (ARGV[1] == 'write' and taken('read')) then
	return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1`)

	stampLeave = redis.NewScript(`
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then
	return redis.call('HDEL', KEYS[1], ARGV[1])
end
return 0`)
)

// RWHashTimestamps is the recipe `rw-hash-timestamps`, for a client whose clock
// is now: readers and writers in one hash with the fields read and write.
//
// Acquire shared: unless the write stamp is younger than the time-out by the
// caller's clock, HSET read stamp, the caller's time in milliseconds. Acquire
// exclusive: unless either stamp is younger than the time-out, HSET write
// stamp. Release: compare the stamp and HDEL the field. Each is one script. The
// time-outs are fixed, here at the TTL that the caller asks for; the key itself
// never expires.
//
// Flaws: the second reader overwrites the stamp of the first: when it leaves,
// the first is unprotected and a writer gets in (S1); its release has removed
// what protected another (S5). Two owners of the same millisecond are one
// owner. Time-outs go by the callers' clocks. A reader that reads for longer
// than the time-out is overrun.
//
// Shown by: two readers and a writer; skewing a client's clock; a long read.
// Corrected by: `single` in shared mode, which keeps every reader apart, by an
// owner token and the server's clock.
func RWHashTimestamps(now func() time.Time) lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return rwHashTimestamps{m, now} })
}

func rwHashTimestampsRecipe() Recipe {
	return Recipe{
		ID:          "rw-hash-timestamps",
		Flaw:        "the second reader overwrites the first's stamp; a stamp is no owner; trusts the clients' clocks",
		Needs:       "two readers and a writer; skew a client's clock; a long read",
		Expected:    []string{"S1", "S5"},
		CorrectedBy: "single",
		Nodes:       1,
		Factory:     RWHashTimestamps(time.Now),
		WithClock:   RWHashTimestamps,
	}
}

type rwHashTimestamps struct {
	master
	now func() time.Time
}

func (l rwHashTimestamps) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.take(ctx, key, "write", ttl)
}

// AcquireShared implements lockimpl.SharedLocker.
func (l rwHashTimestamps) AcquireShared(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.take(ctx, key, "read", ttl)
}

func (l rwHashTimestamps) take(ctx context.Context, key, field string, ttl time.Duration) (lockimpl.Lease, error) {
	start, stamp := time.Now(), l.now().UnixMilli()
	ok, err := stampTake.Run(ctx, l.rdb, []string{key}, field, stamp, ttl.Milliseconds()).Bool()
	return granted(ok, err, &lease{
		until:   start.Add(ttl),
		release: func(ctx context.Context) error { return l.leave(ctx, key, field, stamp) },
	})
}

func (l rwHashTimestamps) leave(ctx context.Context, key, field string, stamp int64) error {
	ok, err := stampLeave.Run(ctx, l.rdb, []string{key}, field, stamp).Bool()
	if err != nil {
		return fmt.Errorf("release lock: %w", err)
	}
	if !ok {
		return lockimpl.ErrLost
	}
	return nil
}
