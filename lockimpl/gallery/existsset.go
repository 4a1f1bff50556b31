package gallery

import (
	"context"
	"fmt"
	"time"

	"locktorture/lockimpl"
)

// ExistsSet is the recipe `exists-set`.
//
// Acquire: EXISTS key; when it is absent, SET key 1. Release: DEL key. There is
// no expiry: the TTL that is asked for is ignored.
//
// Flaw: looking and taking are two steps. Two clients that look before either
// has set both hold the lock (S1), and their critical sections interleave (S3).
//
// Shown by: contention alone; stopping a client between its two commands makes
// it certain.
// Corrected by: `setnx-del`, which looks and takes in one step.
func ExistsSet() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return existsSet{m} })
}

func existsSetRecipe() Recipe {
	return Recipe{
		ID: "exists-set", Unchecked: true,
		Flaw:        "looking and taking are two steps",
		Needs:       "contention",
		Expected:    []string{"S1", "S3"},
		CorrectedBy: "setnx-del",
		Nodes:       1,
		Factory:     ExistsSet(),
	}
}

type existsSet struct{ master }

func (l existsSet) Acquire(ctx context.Context, key string, _ time.Duration) (lockimpl.Lease, error) {
	n, err := l.rdb.Exists(ctx, key).Result()
	if err != nil {
		return nil, fmt.Errorf("look at lock: %w", err)
	}
	if n > 0 {
		return nil, lockimpl.ErrHeld
	}
	err = l.rdb.Set(ctx, key, 1, 0).Err()
	return granted(true, err, &lease{release: l.del(key)})
}
