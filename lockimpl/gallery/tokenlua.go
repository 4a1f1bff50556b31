package gallery

import (
	"context"
	"time"

	"locktorture/lockimpl"
)

// TokenLua is the recipe `token-lua`: what the Redis documentation gives as the
// right lock for a single master.
//
// Acquire: SET key token NX EX ttl (PX where ttl is not in whole seconds).
// Release: GET, compare the token and DEL, in one script, whose reply is
// ignored: a release that came too late is told nothing. Extend: compare the
// token and PEXPIRE, in one script. Nothing is scaled: the expiry is the TTL
// that is asked for.
//
// Flaw: the work may outlast the lease, and nothing fences the guarded
// resource. A holder that is paused between looking at its deadline and writing
// writes while another holds the lock (S3z). Its release harms nobody.
//
// Shown by: pausing the holder beyond the TTL over an unfenced store.
// Corrected by: `single` over a fenced store, which rejects the late write.
func TokenLua() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return tokenLua{m} })
}

func tokenLuaRecipe() Recipe {
	return Recipe{
		ID: "token-lua", Unchecked: true,
		Flaw:        "nothing fences a write that comes after the lease",
		Needs:       "pause the holder beyond the TTL, over an unfenced store",
		Expected:    []string{"S3z"},
		CorrectedBy: "single",
		Nodes:       1,
		Extends:     true,
		Factory:     TokenLua(),
	}
}

type tokenLua struct{ master }

func (l tokenLua) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.acquireToken(ctx, key, ttl)
}
