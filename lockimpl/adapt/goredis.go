package adapt

import (
	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/conn"
)

// GoRedis is the factory of a lock that is built on one go-redis client: of a server, of
// the master that Redis Sentinel watches, or of a Redis Cluster.
func GoRedis(build func(redis.UniversalClient) lockimpl.Locker) lockimpl.Factory {
	return onFirst(func(n lockimpl.Node) (lockimpl.Locker, error) {
		rdb := conn.Universal(n)
		return closing(build(rdb), rdb.Close), nil
	})
}

// GoRedisEach is the factory of a lock that is built on a go-redis client for each
// of several independent masters.
func GoRedisEach(build func([]redis.UniversalClient) lockimpl.Locker) lockimpl.Factory {
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		if len(nodes) == 0 {
			return nil, errNoNodes
		}
		var all []redis.UniversalClient
		var ends []func() error
		for _, n := range nodes {
			rdb := conn.Open(n)
			all, ends = append(all, rdb), append(ends, rdb.Close)
		}
		return closing(build(all), ends...), nil
	}
}
