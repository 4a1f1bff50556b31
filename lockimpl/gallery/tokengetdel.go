package gallery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
)

// TokenGetDel is the recipe `token-get-del`.
//
// Acquire: SET key token NX EX ttl (PX where ttl is not in whole seconds).
// Release: GET key, compare with the token, DEL key, as three steps of the
// client. Nothing is scaled.
//
// Flaw: time passes between GET and DEL. When the lease ends in between, the
// DEL frees the next holder's lock (S5), and lets a third client in beside that
// one (S1).
//
// Shown by: delaying the holder's link between the two commands beyond the TTL.
// Corrected by: `token-lua`, which compares and deletes in one step.
func TokenGetDel() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return tokenGetDel{m} })
}

func tokenGetDelRecipe() Recipe {
	return Recipe{
		ID:          "token-get-del",
		Flaw:        "comparing the owner and deleting are two steps",
		Needs:       "stall the holder's link after the reply to its GET, beyond the TTL",
		Expected:    []string{"S5", "S1"},
		CorrectedBy: "token-lua",
		Nodes:       1,
		Factory:     TokenGetDel(),
	}
}

type tokenGetDel struct{ master }

func (l tokenGetDel) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	start, token := time.Now(), newToken()
	ok, err := l.rdb.SetNX(ctx, key, token, ttl).Result()
	return granted(ok, err, &lease{
		until:   start.Add(ttl),
		release: func(ctx context.Context) error { return l.drop(ctx, key, token) },
	})
}

func (l tokenGetDel) drop(ctx context.Context, key, token string) error {
	owner, err := l.rdb.Get(ctx, key).Result()
	switch {
	case errors.Is(err, redis.Nil), err == nil && owner != token:
		return lockimpl.ErrLost
	case err != nil:
		return fmt.Errorf("read owner: %w", err)
	}
	return l.del(key)(ctx)
}
