package gallery

import (
	"context"
	"time"

	"locktorture/lockimpl"
)

// SetNXExpire is the recipe `setnx-expire`.
//
// Acquire: SETNX key 1; only after a reply of 1, (P)EXPIRE key ttl. This is the
// try-lock form: it swallows an error at either step and answers "not taken"
// (ErrHeld), although the key may be set. Release: DEL key, without a look.
// Nothing is scaled: the expiry is the TTL that is asked for.
//
// Flaw: a client that dies, or loses its connection, between the two commands
// leaves a key without an expiry: everybody else waits for ever (L1, L8).
//
// Shown by: cutting the client's link after the reply to its SETNX.
// Corrected by: `set-nx-ex-del`, which sets key and expiry in one command.
func SetNXExpire() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return setNXExpire{m} })
}

func setNXExpireRecipe() Recipe {
	return Recipe{
		ID: "setnx-expire", Unchecked: true, Swallows: true,
		Flaw:        "key and expiry are two steps: a crash in between blocks everybody for ever",
		Needs:       "cut the client's link after the reply to its SETNX",
		Expected:    []string{"L1", "L8"},
		CorrectedBy: "set-nx-ex-del",
		Nodes:       1,
		Factory:     SetNXExpire(),
	}
}

type setNXExpire struct{ master }

func (l setNXExpire) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	start := time.Now()
	if ok, err := l.setNX(ctx, key, 1); err != nil || !ok {
		return nil, lockimpl.ErrHeld
	}
	if err := l.rdb.PExpire(ctx, key, ttl).Err(); err != nil {
		return nil, lockimpl.ErrHeld
	}
	return &lease{until: start.Add(ttl), release: l.del(key)}, nil
}
