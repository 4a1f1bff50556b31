package gallery

import "locktorture/lockimpl"

// Cluster is the recipe `cluster`: `token-lua` on a Redis Cluster, through a client that
// asks the servers who has the key's slot, and follows MOVED and ASK.
//
// Acquire, release and extend are those of `token-lua`. Nothing is scaled.
//
// Flaw: a key has one master, and its replication is asynchronous. The replica that the
// other masters promote need not have seen the key (S10, and S1 with it). A migration
// of the slot, or CLUSTER FAILOVER, loses nothing.
//
// Shown by: holding the replication back, and killing the master of the key.
// Corrected by: `redlock`, whose masters are independent of one another.
func Cluster() lockimpl.Factory {
	return onFirst(func(m master) lockimpl.Locker { return tokenLua{m} })
}

func clusterRecipe() Recipe {
	return Recipe{
		ID: "cluster", Unchecked: true,
		Flaw:        "the replica that a Redis Cluster promotes may never have seen the key",
		Needs:       "hold the replication back, grant, kill the master of the key, let its replica be promoted",
		Expected:    []string{"S10", "S1"},
		CorrectedBy: "redlock",
		Nodes:       1,
		Replica:     true,
		Extends:     true,
		Factory:     Cluster(),
	}
}
