package adapt

import (
	"context"
	"errors"
	"time"

	"github.com/gomodule/redigo/redis"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/conn"
)

// redigoTimeout bounds what redigo does without a context's deadline.
const redigoTimeout = 2 * time.Second

// Redigo is the factory of a lock that is built on one redigo pool.
func Redigo(build func(*redis.Pool) lockimpl.Locker) lockimpl.Factory {
	return onFirst(func(n lockimpl.Node) (lockimpl.Locker, error) {
		dial := conn.Dialer(n)
		pool := &redis.Pool{
			MaxIdle: 64,
			DialContext: func(ctx context.Context) (redis.Conn, error) {
				ctx, cancel := context.WithTimeout(ctx, redigoTimeout)
				defer cancel()
				c, err := dial(ctx, "tcp", n.Addr)
				if err != nil {
					return nil, err
				}
				rc := redis.NewConn(c, redigoTimeout, redigoTimeout)
				if n.Dial != nil {
					return rc, nil
				}
				return rc, logIn(ctx, rc, n)
			},
		}
		return closing(build(pool), pool.Close), nil
	})
}

// logIn does what a node asks for that is not dialled by the harness.
func logIn(ctx context.Context, c redis.Conn, n lockimpl.Node) (err error) {
	switch {
	case n.Username != "":
		_, err = redis.DoContext(c, ctx, "AUTH", n.Username, n.Password)
	case n.Password != "":
		_, err = redis.DoContext(c, ctx, "AUTH", n.Password)
	}
	if err == nil && n.DB != 0 {
		_, err = redis.DoContext(c, ctx, "SELECT", n.DB)
	}
	if err != nil {
		err = errors.Join(err, c.Close())
	}
	return err
}
