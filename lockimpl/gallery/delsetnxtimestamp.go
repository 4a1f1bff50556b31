package gallery

import (
	"context"
	"time"

	"locktorture/lockimpl"
)

// DelSetNXTimestamp is the recipe `del-setnx-timestamp`, for a client whose
// clock is now: the first idea for a lock whose holder may have died, which the
// text that publishes it names as broken itself.
//
// Acquire: SETNX key stamp, where stamp is the client's own time plus the TTL
// plus 1,000 ms of tolerance, in milliseconds, as 8 bytes. When the key exists,
// GET it; only if the stamp found is below the client's own time, DEL key, and
// SETNX key stamp again. Release: DEL key, without a look. The key never
// expires. The tolerance is not scaled.
//
// Flaws: two clients that both saw the stamp passed both delete, the second the
// stamp that the first has just set, and both are told 1 (S1). A client whose
// clock is ahead takes a lock that is held, and a late release frees the next
// holder's.
//
// Shown by: contention after the death of a holder, over a link that is not
// quite fast.
// Corrected by: `token-lua`, which leaves the expiry to the server.
func DelSetNXTimestamp(now func() time.Time) lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return delSetNXTimestamp{stamped{m, now}} })
}

func delSetNXTimestampRecipe() Recipe {
	return Recipe{
		ID: "del-setnx-timestamp", Unchecked: true,
		Flaw:        "a passed stamp is deleted, then set: whoever saw it passed too deletes the new one",
		Needs:       "the death of a holder, and contention for what it leaves",
		Expected:    []string{"S1"},
		CorrectedBy: "token-lua",
		Nodes:       1,
		Factory:     DelSetNXTimestamp(time.Now),
		WithClock:   DelSetNXTimestamp,
	}
}

type delSetNXTimestamp struct{ stamped }

func (l delSetNXTimestamp) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	start := time.Now()
	ok, err := l.acquire(ctx, key, stampBytes(l.now().Add(ttl+stampTolerance)))
	return granted(ok, err, &lease{until: start.Add(ttl), release: l.del(key)})
}

// acquire stamps key, or deletes a stamp that has passed and tries once more.
func (l delSetNXTimestamp) acquire(ctx context.Context, key string, stamp []byte) (bool, error) {
	ok, err := l.setNX(ctx, key, stamp)
	if err != nil || ok {
		return ok, err
	}
	_, passed, err := l.passed(ctx, key)
	if err != nil || !passed {
		return false, err
	}
	if err := l.rdb.Del(ctx, key).Err(); err != nil {
		return false, err
	}
	return l.setNX(ctx, key, stamp)
}
