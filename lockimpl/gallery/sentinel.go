package gallery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/conn"
)

// Sentinel is the recipe `sentinel`: `token-lua` on a master that Redis Sentinel
// watches, through a client that asks the Sentinels for it.
//
// Acquire, release and extend are those of `token-lua`. Nothing is scaled.
//
// Flaw: replication is asynchronous. The promoted replica need not have seen the
// key, and a master that is cut off from its replicas goes on granting until its
// clients hear of the other one (S10, and S1 with it).
//
// Shown by: holding the replication back, and killing or isolating the master.
// Corrected by: `sentinel-wait`, as far as acknowledged replication goes.
func Sentinel() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return tokenLua{m} })
}

func sentinelRecipe() Recipe {
	return Recipe{
		ID: "sentinel", Unchecked: true,
		Flaw:        "the replica that Sentinel promotes may never have seen the key",
		Needs:       "hold the replication back, grant, kill the master, let Sentinel promote a replica",
		Expected:    []string{"S10", "S1"},
		CorrectedBy: "sentinel-wait",
		Nodes:       1,
		Replica:     true,
		Extends:     true,
		Factory:     Sentinel(),
	}
}

func sentinelMinReplicasRecipe() Recipe {
	r := sentinelRecipe()
	r.ID = "sentinel-min-replicas"
	r.Flaw = "min-replicas-to-write notices a replica that lags by whole seconds, and no sooner"
	r.Needs = "as sentinel, on servers with min-replicas-to-write 1 and min-replicas-max-lag 1"
	return r
}

// SentinelWait is the recipe `sentinel-wait`: `sentinel`, whose grants and
// extensions count only once a replica has acknowledged them.
//
// Acquire: SET key token NX PX ttl and WAIT 1 in one pipeline. Where no replica
// acknowledges in time, the key is given back and nothing is granted. Extend:
// compare the token and PEXPIRE, and WAIT 1. Release: as `token-lua`; a release
// that is not replicated leaves the key until its TTL ends.
//
// Flaw: an acknowledgement is in the replica's memory. A master that comes back
// empty before Sentinel counts it as down makes its replicas empty as well, and
// grants everything again (S10, and S1 with it). See Redis' documentation, "High
// availability with Redis Sentinel", and of WAIT: it "does not make Redis a
// strongly consistent store".
//
// Shown by: killing a master without persistence, and starting it again at once.
// Corrected by: `redlock`, whose quorum is of independent masters and which keeps
// out one that has forgotten.
func SentinelWait() lockimpl.Factory {
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		if len(nodes) == 0 {
			return nil, errNoNodes
		}
		rdb := conn.Open(nodes[0])
		return sentinelWait{master{rdb}, rdb}, nil
	}
}

func sentinelWaitRecipe() Recipe {
	return Recipe{
		ID: "sentinel-wait", Unchecked: true,
		Flaw:        "a master that restarts empty at once empties the replicas that had acknowledged",
		Needs:       "kill a master without persistence, and start it again before Sentinel notices",
		Expected:    []string{"S10", "S1"},
		CorrectedBy: "redlock",
		Nodes:       1,
		Replica:     true, Acknowledged: true,
		Extends: true,
		Factory: SentinelWait(),
	}
}

type sentinelWait struct {
	master
	server *redis.Client // whose connections can be had one by one
}

// waitShare is the part of a lease that may be spent on waiting for a replica.
const waitShare = 4

func (l sentinelWait) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	lease := &waitLease{tokenLease{rdb: l.rdb, key: key, token: newToken(), until: time.Now().Add(ttl)}, l.server}
	var set *redis.BoolCmd
	var acknowledged *redis.Cmd
	_, err := l.rdb.Pipelined(ctx, func(p redis.Pipeliner) error { // WAIT speaks of the writes of its own connection
		set, acknowledged = p.SetNX(ctx, key, lease.token, ttl), p.Do(ctx, "WAIT", 1, (ttl/waitShare).Milliseconds())
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("take lock: %w", err)
	}
	if !set.Val() {
		return nil, lockimpl.ErrHeld
	}
	n, err := acknowledged.Int()
	if err != nil {
		return nil, fmt.Errorf("count the replicas: %w", err)
	}
	if n > 0 {
		return lease, nil
	}
	if err := lease.Release(ctx); err != nil {
		return nil, fmt.Errorf("give back what no replica acknowledged: %w", err)
	}
	return nil, fmt.Errorf("no replica acknowledged the key: %w", lockimpl.ErrNoQuorum)
}

// A waitLease is a tokenLease that is prolonged only where a replica has it.
type waitLease struct {
	tokenLease
	server *redis.Client
}

// Extend implements lockimpl.Lease. Where no replica acknowledges it, the lease
// goes on until it would have ended without.
func (l *waitLease) Extend(ctx context.Context, ttl time.Duration) error {
	start := time.Now()
	c := l.server.Conn() // WAIT speaks of the writes of its own connection
	defer func() { _ = c.Close() }()
	ok, err := expireScript.Run(ctx, c, []string{l.key}, l.token, ttl.Milliseconds()).Bool()
	switch {
	case err != nil:
		return fmt.Errorf("extend lock: %w", err)
	case !ok:
		return lockimpl.ErrLost
	}
	n, err := c.Do(ctx, "WAIT", 1, (ttl / waitShare).Milliseconds()).Int()
	if err == nil && n == 0 {
		err = errors.New("no replica acknowledged it")
	}
	if err != nil {
		return fmt.Errorf("extend lock: %w", err)
	}
	l.promise(start.Add(ttl))
	return nil
}
