package gallery

import (
	"context"
	"time"

	"locktorture/lockimpl"
)

// Failover is the recipe `failover`: `token-lua` on a master that has an
// asynchronous replica, which takes over under the same address when the master
// dies.
//
// Acquire, release and extend are those of `token-lua`: no WAIT for the replica.
// Nothing is scaled.
//
// Flaw: the master answers before the replica knows. When it dies in between,
// the promoted replica has never seen the key and grants it again, long before
// the first holder's TTL has run out (S10, and S1 with it).
//
// Shown by: cutting the replication, granting, killing the master, promoting
// the replica.
// Corrected by: `redlock`, whose majority of independent masters outlives any
// one of them.
func Failover() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return failover{m} })
}

func failoverRecipe() Recipe {
	return Recipe{
		ID: "failover", Unchecked: true,
		Flaw:        "the promoted replica may never have seen the key",
		Needs:       "cut the replication, grant, kill the master, promote the replica",
		Expected:    []string{"S10", "S1"},
		CorrectedBy: "redlock",
		Nodes:       1,
		Replica:     true,
		Extends:     true,
		Factory:     Failover(),
	}
}

type failover struct{ master }

func (l failover) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	return l.acquireToken(ctx, key, ttl)
}
