package conn

import (
	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
)

// failover returns Options' settings for the master that n's Sentinels know: the
// client asks them where it is, hears of a switch by their +switch-master, and then
// closes its connections to the one before.
func failover(n lockimpl.Node) *redis.FailoverOptions {
	o := Options(n)
	return &redis.FailoverOptions{
		MasterName:            n.Sentinel.Master,
		SentinelAddrs:         append([]string(nil), n.Sentinel.Addrs...), // which the client shuffles
		Dialer:                o.Dialer,
		Username:              o.Username,
		Password:              o.Password,
		DB:                    o.DB,
		MaxRetries:            o.MaxRetries,
		DialerRetries:         o.DialerRetries,
		DialTimeout:           o.DialTimeout,
		ContextTimeoutEnabled: o.ContextTimeoutEnabled,
		DisableIdentity:       o.DisableIdentity,
		PoolSize:              o.PoolSize,
		PipelinePoolSize:      o.PipelinePoolSize,
		ReadBufferSize:        o.ReadBufferSize,
		WriteBufferSize:       o.WriteBufferSize,
	}
}
