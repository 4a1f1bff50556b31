package conn

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
)

// reloadInterval is how old a client's view of a cluster's slots may be: a master that
// is dead sends nobody to another one.
const reloadInterval = time.Second

// Universal is Open for locks whose client may be that of a Redis Cluster, where n is
// one.
func Universal(n lockimpl.Node) redis.UniversalClient {
	if n.Cluster != nil {
		return cluster(n)
	}
	return Open(n)
}

// cluster returns Options' settings for a cluster: a command is sent on where a server
// redirects it, which then has not executed it, and never sent again.
func cluster(n lockimpl.Node) *redis.ClusterClient {
	o := Options(n)
	rdb := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:                      append([]string(nil), n.Cluster...), // which the client shuffles
		Dialer:                     o.Dialer,
		Username:                   o.Username,
		Password:                   o.Password,
		MaxRetries:                 o.MaxRetries,
		DialerRetries:              o.DialerRetries,
		DialTimeout:                o.DialTimeout,
		ReadTimeout:                dialTimeout, // of its questions about slots, which have no other deadline
		ContextTimeoutEnabled:      o.ContextTimeoutEnabled,
		DisableIdentity:            o.DisableIdentity,
		MaintNotificationsConfig:   o.MaintNotificationsConfig,
		PoolSize:                   o.PoolSize,
		PipelinePoolSize:           o.PipelinePoolSize,
		ReadBufferSize:             o.ReadBufferSize,
		WriteBufferSize:            o.WriteBufferSize,
		DisableRoutingPolicies:     true, // which would ask for COMMAND first
		ClusterStateReloadInterval: reloadInterval,
	})
	rdb.AddHook(sentOnce{})
	return rdb
}

// sentOnce keeps a client of a cluster from sending a command again whose reply was
// lost, or to which the cluster was down; redirections it follows.
type sentOnce struct{}

// DialHook implements redis.Hook.
func (sentOnce) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (sentOnce) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return next(ctx, once{cmd}) }
}

// ProcessPipelineHook implements redis.Hook.
func (sentOnce) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		marked := make([]redis.Cmder, len(cmds))
		for i, cmd := range cmds {
			marked[i] = once{cmd}
		}
		return next(ctx, marked)
	}
}

// once is a command that must not be sent again.
type once struct{ redis.Cmder }

// NoRetry implements redis.Cmder.
func (once) NoRetry() bool { return true }
