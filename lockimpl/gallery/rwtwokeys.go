package gallery

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
)

// The scripts see KEYS[1], the readers' key, and KEYS[2], the writer's.
// ARGV[1] is the TTL in milliseconds.
var (
	twoKeysRead = redis.NewScript(`
if redis.call('EXISTS', KEYS[2]) == 1 then
	return 0
end
redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
return 1`)

	twoKeysWrite = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
if redis.call('SET', KEYS[2], 1, 'NX', 'PX', ARGV[1]) then
	return 1
end
return 0`)
)

// RWTwoKeys is the recipe `rw-two-keys`: readers and writers on one key each.
//
// Acquire shared: when there is no write key, SET the read key EX ttl, which
// renews its expiry for all readers. Acquire exclusive: when there is no read
// key, SET the write key NX EX ttl (both PX here, for TTLs that are not in whole
// seconds). Each is one script over both keys. Release: DEL the read key, or the
// write key, without a look. Nothing is scaled.
//
// Flaws: all readers share one key, so that the release of any of them lets a
// writer in beside the others (S1). Nothing says whose the write key is: a late
// release frees the next writer's (S5). On a sharded server the two keys live
// in different slots: every acquisition is refused with CROSSSLOT.
//
// Shown by: two readers and a writer; pausing a writer beyond the TTL.
// Corrected by: `single` in shared mode, which keeps every reader apart.
func RWTwoKeys() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return rwTwoKeys{m} })
}

func rwTwoKeysRecipe() Recipe {
	return Recipe{
		ID: "rw-two-keys", Unchecked: true,
		Flaw:        "one key for all readers: the release of any lets a writer in; anybody deletes the write key",
		Needs:       "two readers and a writer; pause a writer beyond the TTL (S5)",
		Expected:    []string{"S1", "S5"},
		CorrectedBy: "single",
		Nodes:       1,
		CrossSlot:   true,
		Factory:     RWTwoKeys(),
	}
}

type rwTwoKeys struct{ master }

// LeaseKeys implements lockimpl.KeyLister.
func (rwTwoKeys) LeaseKeys(key string) []string { return []string{key + ":read", key + ":write"} }

func (l rwTwoKeys) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.acquire(ctx, twoKeysWrite, key, ttl, l.del(key+":write"))
}

// AcquireShared implements lockimpl.SharedLocker.
func (l rwTwoKeys) AcquireShared(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.acquire(ctx, twoKeysRead, key, ttl, l.del(key+":read"))
}

func (l rwTwoKeys) acquire(ctx context.Context, s *redis.Script, key string, ttl time.Duration, release func(context.Context) error) (lockimpl.Lease, error) {
	start := time.Now()
	ok, err := s.Run(ctx, l.rdb, l.LeaseKeys(key), ttl.Milliseconds()).Bool()
	return granted(ok, err, &lease{until: start.Add(ttl), release: release})
}
