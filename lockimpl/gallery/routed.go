package gallery

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/conn"
)

// heartbeat is how often a client looks which servers are there. A server that
// has been away three times in a row leaves that client's ring, and returns when
// it answers.
const heartbeat = 100 * time.Millisecond

// Routed is the recipe `routed`: `token-lua` on a ring of masters, of which the
// client picks one by the key.
//
// Acquire: hash the key over the servers that the client's ring has, then SET
// key token NX EX ttl there. Release: hash again, then GET, compare the token and
// DEL, in one script, whose reply is ignored. The ring is go-redis's own, with
// rendezvous hashing. Scaled: it looks for servers every 100 ms in place of 500.
//
// Flaw: the ring is each client's own. A client that has lost sight of a server
// asks another one for the same key, where nobody holds it (S1).
//
// Shown by: cutting one client off from the server of a key that is in use.
// Corrected by: `redlock`, where one master says nothing without a majority.
func Routed() lockimpl.Factory {
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		if len(nodes) == 0 {
			return nil, errNoNodes
		}
		addrs, servers := map[string]string{}, &servers{}
		for _, n := range nodes {
			addrs[n.Name] = n.Name // which tells nodes apart that are reached by dialers of their own
			servers.all = append(servers.all, conn.Open(n))
		}
		return routed{redis.NewRing(&redis.RingOptions{
			Addrs: addrs,
			NewClient: func(o *redis.Options) *redis.Client {
				return servers.all[slices.IndexFunc(nodes, func(n lockimpl.Node) bool { return n.Name == o.Addr })]
			},
			HeartbeatFn:        servers.answers,
			HeartbeatFrequency: heartbeat,
			MaxRetries:         -1,
		})}, nil
	}
}

// servers are those of a ring. It asks for one after the other, in an order that changes from
// process to process; here all are asked in the order of the nodes, so that a simulation repeats.
type servers struct {
	all      []*redis.Client
	answered map[*redis.Client]bool // by those of this round that it has not asked for yet
}

// answers implements redis.RingOptions.HeartbeatFn. The ring's one goroutine calls it once a
// round for each server.
func (s *servers) answers(ctx context.Context, c *redis.Client) bool {
	if len(s.answered) == 0 {
		s.answered = map[*redis.Client]bool{}
		for _, one := range s.all {
			err := one.Ping(ctx).Err()
			s.answered[one] = err == nil || errors.Is(err, redis.ErrPoolTimeout)
		}
	}
	up := s.answered[c]
	delete(s.answered, c)
	return up
}

func routedRecipe() Recipe {
	return Recipe{
		ID: "routed", Unchecked: true,
		Flaw:        "each client routes by a ring of its own: one that lost sight of a server asks another",
		Needs:       "cut one client off from the server of a key that is in use",
		Expected:    []string{"S1"},
		CorrectedBy: "redlock",
		Nodes:       3,
		Factory:     Routed(),
	}
}

type routed struct{ ring *redis.Ring }

func (routed) LeaseKeys(key string) []string { return []string{key} }

func (l routed) Close() error { return l.ring.Close() }

func (l routed) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	start, token := time.Now(), newToken()
	ok, err := l.ring.SetNX(ctx, key, token, ttl).Result()
	return granted(ok, err, &lease{until: start.Add(ttl), release: func(ctx context.Context) error {
		return letGo(ctx, l.ring, key, token)
	}})
}
