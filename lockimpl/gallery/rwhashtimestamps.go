package gallery

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
)

// The scripts see KEYS[1], the hash. ARGV[1] is the field, "read" or "write",
// ARGV[2] the caller's stamp; ARGV[3], ARGV[4] and ARGV[5] are the time-outs of
// a read, of a write and of the key. All but the field are in milliseconds.
var (
	stampTake = redis.NewScript(`
local function taken(field, timeout)
	local stamp = redis.call('HGET', KEYS[1], field)
	return stamp and tonumber(ARGV[2]) - tonumber(stamp) <= tonumber(timeout)
end
if taken('write', ARGV[4]) or (ARGV[1] == 'write' and taken('read', ARGV[3])) then
	return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
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
// Acquire shared: HGET write; unless that stamp has not passed by the caller's
// clock, HSET read stamp, the caller's time in milliseconds, and PEXPIRE the
// hash. Acquire exclusive: HGET write, HGET read; unless either has not passed,
// HSET write stamp, and PEXPIRE the hash. A stamp has passed when more than its
// time-out has gone by since. Release: HGET the field, compare the stamp, HDEL
// the field. Each is one script.
//
// Scaled: the published time-outs are fixed at 3 s for a write, 1 s for a read
// and 10 s for the key. Here a write's is the TTL that is asked for, a read's a
// third of it, and the key's ten thirds.
//
// Flaws: the second reader overwrites the stamp of the first: when it leaves,
// the first is unprotected and a writer gets in (S1); its release has removed
// what protected another (S5). Two owners of the same millisecond are one
// owner. Time-outs go by the callers' clocks. A reader that reads for longer
// than the time-out is overrun. What one field's holder leaves keeps the key,
// and so the other's stamp, alive.
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
	return l.acquire(ctx, key, "write", ttl, ttl)
}

// AcquireShared implements lockimpl.SharedLocker.
func (l rwHashTimestamps) AcquireShared(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.acquire(ctx, key, "read", ttl, readTimeout(ttl))
}

// readTimeout and keyTimeout keep the published proportions of 1 s and 10 s to
// a write's 3 s.
func readTimeout(write time.Duration) time.Duration { return write / 3 }
func keyTimeout(write time.Duration) time.Duration  { return write * 10 / 3 }

// acquire stamps field for a lease that lasts for timeout; write is the time-out
// of a write.
func (l rwHashTimestamps) acquire(ctx context.Context, key, field string, write, timeout time.Duration) (lockimpl.Lease, error) {
	start, stamp := time.Now(), l.now().UnixMilli()
	ok, err := stampTake.Run(ctx, l.rdb, []string{key}, field, stamp,
		readTimeout(write).Milliseconds(), write.Milliseconds(), keyTimeout(write).Milliseconds()).Bool()
	return granted(ok, err, &lease{
		until:   start.Add(timeout),
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
