package redsync

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/go-redsync/redsync/v4"
	lib "github.com/go-redsync/redsync/v4/redis"
	pool "github.com/go-redsync/redsync/v4/redis/rueidis"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/conn"
)

// NewFailFast returns the factory of redsync's fastest configuration: it
// returns with the quorum's last needed reply (WithFailFast), over rueidis,
// which pipelines the commands of all goroutines on one connection per node.
// The factory connects.
func NewFailFast() lockimpl.Factory {
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		if len(nodes) == 0 {
			return nil, errNoNodes
		}
		l := &failFast{}
		var pools []lib.Pool
		for _, n := range nodes {
			c, err := rueidis.NewClient(options(n))
			if err != nil {
				return nil, errors.Join(fmt.Errorf("connect to %s: %w", n.Name, err), l.Close())
			}
			l.clients = append(l.clients, c)
			pools = append(pools, pool.NewPool(rueidiscompat.NewAdapter(c)))
		}
		l.locker = locker{rs: redsync.New(pools...), options: []redsync.Option{redsync.WithFailFast(true)}}
		return l, nil
	}
}

func options(n lockimpl.Node) rueidis.ClientOption {
	dial := conn.Dialer(n)
	return rueidis.ClientOption{
		InitAddress:       []string{n.Addr},
		ForceSingleClient: true,
		DisableRetry:      true,
		DisableCache:      true,
		ClientSetInfo:     rueidis.DisableClientSetInfo,
		DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return dial(ctx, "tcp", addr)
		},
	}
}

// failFast is a locker over rueidis clients.
type failFast struct {
	locker
	clients []rueidis.Client
}

// Close closes the connections; what the library still has under way it does
// not wait for.
func (l *failFast) Close() error {
	for _, c := range l.clients {
		c.Close()
	}
	return nil
}
