// Package gallery holds the lock recipes that people copy, each written as it
// is commonly written and with the flaw that it is known for. They exist to be
// caught: none of them is fit for use.
package gallery

import (
	"time"

	"locktorture/lockimpl"
)

// A Recipe is one published lock and what is to be expected of it.
type Recipe struct {
	ID          string
	Flaw        string   // in one line
	Needs       string   // the fault or the workload that shows the flaw
	Expected    []string // ids of the anomalies that it must show then
	CorrectedBy string   // id of the lock that shows none of them under the same faults
	Nodes       int      // masters that it spans

	// Extends says whether its leases can be extended by hand; where not,
	// Lease.Extend answers errors.ErrUnsupported and sends nothing.
	Extends bool

	Replica bool // its master has an asynchronous replica, promoted under the same address

	// Acknowledged says that what it writes counts only once a replica has it.
	Acknowledged bool

	CrossSlot bool // its commands name keys that a Redis Cluster may keep apart

	Subscribes bool // its waiters hear of releases by pub/sub

	// Swallows says that an attempt answers "not taken" when it has met an
	// error, although it may have taken the lock.
	Swallows bool

	// Unchecked says that a release succeeds whoever holds: it proves nothing
	// about its owner.
	Unchecked bool

	Factory lockimpl.Factory

	// WithClock builds the recipe for a client whose clock is now; nil when
	// the recipe trusts no client's clock.
	WithClock func(now func() time.Time) lockimpl.Factory
}

// Recipes returns the gallery in the order in which the recipes improved on one
// another.
func Recipes() []Recipe {
	return []Recipe{
		existsSetRecipe(),
		setNXDelRecipe(),
		setNXExpireRecipe(),
		delSetNXTimestampRecipe(),
		getSetTimestampRecipe(),
		luaSetNXExpireRecipe(),
		setNXExDelRecipe(),
		tokenGetDelRecipe(),
		tokenHostTimeRecipe(),
		tokenPerObjectRecipe(),
		tokenLuaRecipe(),
		retryOnErrorRecipe(),
		pollingRecipe(),
		tokenWatchdogRecipe(),
		renewLimitedRecipe(),
		redissonHashRecipe(),
		retryOnErrorHashRecipe(),
		rwTwoKeysRecipe(),
		rwHashTimestampsRecipe(),
		redlockPlainRecipe(),
		redissonRedlockRecipe(),
		failoverRecipe(),
		sentinelRecipe(),
		sentinelMinReplicasRecipe(),
		sentinelWaitRecipe(),
		clusterRecipe(),
		routedRecipe(),
	}
}
