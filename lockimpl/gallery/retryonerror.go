package gallery

import (
	"context"
	"fmt"
	"time"

	"locktorture/lockimpl"
)

// RetryOnError is the recipe `retry-on-error`: `token-lua` behind a helper that
// calls a command once more when the connection fails.
//
// Acquire: SET key token NX EX ttl; on an error of the connection, the same once
// more. Release: GET, compare the token and DEL, in one script, on an error once
// more; the reply is ignored. Scaled: the connection's time-out, after which it
// counts as failed, is a quarter of the TTL, and 5 s at most.
//
// Flaw: a command whose reply was lost has run. The second SET NX is refused by
// the key of the first: the caller is told "not taken", and a lock that nobody
// knows of stands for a TTL.
//
// Shown by: losing the reply to an acquisition, in how long nobody is granted
// the key.
// Corrected by: `single`, whose attempts carry an identity of their own.
func RetryOnError() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return retryOnError{m} })
}

func retryOnErrorRecipe() Recipe {
	return Recipe{
		ID: "retry-on-error", Unchecked: true,
		Flaw:        "a lost reply is tried again and refused by its own key, which stands for a TTL",
		Needs:       "lose the reply to an acquisition; shows in the longest time without a grant",
		CorrectedBy: "single",
		Nodes:       1,
		Factory:     RetryOnError(),
	}
}

type retryOnError struct{ master }

func (l retryOnError) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	start, token := time.Now(), newToken()
	ok, err := sendAgain(ctx, 1, ttl, func(ctx context.Context) (bool, error) { return l.rdb.SetNX(ctx, key, token, ttl).Result() })
	return granted(ok, err, &lease{until: start.Add(ttl), release: func(ctx context.Context) error {
		if _, err := sendAgain(ctx, 1, ttl, func(ctx context.Context) (bool, error) { return compareAndDelete(ctx, l.rdb, key, token) }); err != nil {
			return fmt.Errorf("release lock: %w", err)
		}
		return nil
	}})
}

// RetryOnErrorHash is the recipe `retry-on-error-hash`: `redisson-hash` behind
// the same helper, in place of its own resending.
//
// Acquire, release and renewal are those of `redisson-hash`; on an error of the
// connection, its time-out of a quarter of the TTL or 5 s among them, a command is
// called once more.
//
// Flaw: HINCRBY counts twice when its reply was lost. One release leaves the lock
// held, and the watchdog renews it for ever, for nobody (L1, L8).
//
// Shown by: losing the reply to an acquisition.
// Corrected by: `single`, whose attempts carry an identity of their own.
func RetryOnErrorHash() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return newRedissonHash(m, resending(1)) })
}

func retryOnErrorHashRecipe() Recipe {
	return Recipe{
		ID:          "retry-on-error-hash",
		Flaw:        "a lost reply is tried again and counted twice: one release leaves the lock held for ever",
		Needs:       "lose the reply to an acquisition",
		Expected:    []string{"L1", "L8"},
		CorrectedBy: "single",
		Nodes:       1,
		Subscribes:  true,
		Factory:     RetryOnErrorHash(),
	}
}
