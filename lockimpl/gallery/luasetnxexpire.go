package gallery

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
)

var setNXExpireScript = redis.NewScript(`
if redis.call('SETNX', KEYS[1], '1') == 1 then
	redis.call('PEXPIRE', KEYS[1], ARGV[1])
	return 1
end
return 0`)

// LuaSetNXExpire is the recipe `lua-setnx-expire`.
//
// Acquire: SETNX key 1 and, when that took, (P)EXPIRE key ttl, in one script.
// Release: DEL key, without a look. Nothing is scaled: the expiry is the TTL
// that is asked for.
//
// Flaw: the value says nothing about the owner. A holder that is paused or
// delayed beyond its TTL and then releases deletes the key of whoever took it
// over (S5), and lets a third client in beside that one (S1).
//
// Shown by: pausing the holder beyond the TTL and letting it release.
// Corrected by: `token-lua`, whose release compares an owner token first.
func LuaSetNXExpire() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return luaSetNXExpire{m} })
}

func luaSetNXExpireRecipe() Recipe {
	return Recipe{
		ID: "lua-setnx-expire", Unchecked: true,
		Flaw:        "no owner: a late release frees the next holder's lock",
		Needs:       "pause or delay the holder beyond the TTL, and let it release",
		Expected:    []string{"S5", "S1"},
		CorrectedBy: "token-lua",
		Nodes:       1,
		Factory:     LuaSetNXExpire(),
	}
}

type luaSetNXExpire struct{ master }

func (l luaSetNXExpire) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	start := time.Now()
	ok, err := setNXExpireScript.Run(ctx, l.rdb, []string{key}, ttl.Milliseconds()).Bool()
	return granted(ok, err, &lease{until: start.Add(ttl), release: l.del(key)})
}
