package adapt

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	"github.com/redis/rueidis"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/conn"
)

// Rueidis is the factory of a lock that is built on one rueidis client. The factory
// connects, as rueidis does.
func Rueidis(build func(rueidis.Client) lockimpl.Locker) lockimpl.Factory {
	return onFirst(func(n lockimpl.Node) (lockimpl.Locker, error) {
		dial := conn.Dialer(n)
		o := rueidis.ClientOption{
			InitAddress:       []string{n.Addr},
			ForceSingleClient: true,
			DisableRetry:      true,
			DisableCache:      true,
			ClientSetInfo:     rueidis.DisableClientSetInfo,
			DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
				return dial(ctx, "tcp", addr)
			},
		}
		if n.Dial == nil { // nobody has logged in
			o.Username, o.Password, o.SelectDB = n.Username, n.Password, n.DB
		}
		c, err := rueidis.NewClient(o)
		if err != nil {
			return nil, fmt.Errorf("connect to %s: %w", n.Name, err)
		}
		return closing(build(c), func() error { c.Close(); return nil }), nil
	})
}
