package gallery

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/conn"
)

var errNoNodes = errors.New("a recipe needs at least one node")

// A master is the one server of a recipe that knows a single one, and the key
// in it that bears the lease of key.
type master struct{ rdb redis.UniversalClient }

// onFirst makes a factory out of a recipe for a single master.
func onFirst(build func(master) lockimpl.Locker) lockimpl.Factory {
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) {
		if len(nodes) == 0 {
			return nil, errNoNodes
		}
		return build(master{rdb: conn.Universal(nodes[0])}), nil
	}
}

// LeaseKeys implements lockimpl.KeyLister: the recipe's key is the resource's.
func (master) LeaseKeys(key string) []string { return []string{key} }

// Close closes the connections.
func (m master) Close() error { return m.rdb.Close() }

// setNX sets key where there is none, without an expiry, and reports whether it
// did. The command is SETNX itself, as the recipes publish it.
func (m master) setNX(ctx context.Context, key string, value any) (bool, error) {
	return m.rdb.Do(ctx, "SETNX", key, value).Bool()
}

// del returns a release that deletes keys, whosever they are by then.
func (m master) del(keys ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := m.rdb.Del(ctx, keys...).Err(); err != nil {
			return fmt.Errorf("delete lock: %w", err)
		}
		return nil
	}
}

// A lease of a recipe that neither renews nor issues tokens.
type lease struct {
	until   time.Time
	release func(context.Context) error
}

func (*lease) Fence() uint64 { return 0 }

func (l *lease) ValidUntil() time.Time { return l.until }

// Extend is not part of the recipe: nothing is sent.
func (*lease) Extend(context.Context, time.Duration) error {
	return fmt.Errorf("extend lock: %w", errors.ErrUnsupported)
}

func (l *lease) Release(ctx context.Context) error { return l.release(ctx) }

// granted turns the answer of a conditional write into a lease or a refusal.
func granted(ok bool, err error, l *lease) (lockimpl.Lease, error) {
	switch {
	case err != nil:
		return nil, fmt.Errorf("take lock: %w", err)
	case !ok:
		return nil, lockimpl.ErrHeld
	}
	return l, nil
}

// A hold is who holds what, for recipes with re-entry.
type hold struct{ owner, key string }

// acquireAll takes one key after the other, as users of a recipe with re-entry
// do, and gives back what it has when one is refused.
func acquireAll(ctx context.Context, keys []string, take func(key string) (lockimpl.Lease, error)) ([]lockimpl.Lease, error) {
	var held []lockimpl.Lease
	for _, key := range keys {
		l, err := take(key)
		if err == nil {
			held = append(held, l)
			continue
		}
		for _, l := range slices.Backward(held) {
			if undo := l.Release(context.WithoutCancel(ctx)); undo != nil {
				return nil, fmt.Errorf("give back after %q: %w", err, undo)
			}
		}
		return nil, err
	}
	return held, nil
}

// newToken returns an owner token: 160 random bits.
func newToken() string {
	var b [20]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return fmt.Sprintf("%x", b)
}
