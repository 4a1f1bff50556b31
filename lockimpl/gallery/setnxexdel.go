package gallery

import (
	"context"
	"time"

	"locktorture/lockimpl"
)

// SetNXExDel is the recipe `set-nx-ex-del`.
//
// Acquire: SET key 1 NX EX ttl, one atomic step (PX where ttl is not in whole
// seconds). Release: DEL key, without a look. Nothing is scaled.
//
// Flaw: the value says nothing about the owner. A holder that is paused or
// delayed beyond its TTL and then releases deletes the key of whoever took it
// over (S5), and lets a third client in beside that one (S1).
//
// Shown by: pausing the holder beyond the TTL and letting it release.
// Corrected by: `token-lua`, whose release compares an owner token first.
func SetNXExDel() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return setNXExDel{m} })
}

func setNXExDelRecipe() Recipe {
	return Recipe{
		ID: "set-nx-ex-del", Unchecked: true,
		Flaw:        "no owner: a late release frees the next holder's lock",
		Needs:       "pause or delay the holder beyond the TTL, and let it release",
		Expected:    []string{"S5", "S1"},
		CorrectedBy: "token-lua",
		Nodes:       1,
		Factory:     SetNXExDel(),
	}
}

type setNXExDel struct{ master }

func (l setNXExDel) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	start := time.Now()
	ok, err := l.rdb.SetNX(ctx, key, 1, ttl).Result()
	return granted(ok, err, &lease{until: start.Add(ttl), release: l.del(key)})
}
