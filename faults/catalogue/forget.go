package catalogue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/wait"
	"locktorture/faults/testbed"
)

// flushall empties a node behind everybody's back.
func flushall(ctx context.Context, _ *faults.Scope, _ faults.Params, n testbed.Node) (string, error) {
	before, err := ask(ctx, n, "DBSIZE")
	if err != nil {
		return "", err
	}
	if err := tell(ctx, n, "FLUSHALL"); err != nil {
		return "", err
	}
	after, err := ask(ctx, n, "DBSIZE")
	if err != nil || before == 0 {
		return "", err
	}
	return fmt.Sprintf("FLUSHALL: %d keys, then %d", before, after), nil
}

// scriptFlush makes a node forget every cached script. It has bitten when a
// client was answered NOSCRIPT since.
func scriptFlush(ctx context.Context, s *faults.Scope, _ faults.Params, n testbed.Node) (string, error) {
	const probe = "return 'locktorture'"
	digest, err := testbed.Do(ctx, n, "SCRIPT", "LOAD", probe)
	if err != nil {
		return "", err
	}
	if err := tell(ctx, n, "SCRIPT", "FLUSH"); err != nil {
		return "", err
	}
	if _, err = testbed.Do(ctx, n, "EVALSHA", fmt.Sprint(digest), "0"); err == nil {
		return "", errors.New("SCRIPT FLUSH left a script behind")
	}
	return "", countMisses(ctx, s, n)
}

// kick closes every client's connection from the server's side. It has bitten
// when a client has dialled anew since.
func kick(ctx context.Context, s *faults.Scope, _ faults.Params, n testbed.Node) (string, error) {
	ops := s.Operations(faults.Hit{Nodes: roadEnds(s, []testbed.Node{n})})
	killed, err := ask(ctx, n, "CLIENT", "KILL", "TYPE", "normal")
	if err != nil || killed == 0 {
		return "", err
	}
	s.ProvedBy(func() bool { return ops.Dialled() > 0 || ops.Blind() && ops.Met() })
	s.OnHeal("reconnections are counted", "nothing is broken", func(context.Context) (string, error) {
		if again := ops.Dialled(); again > 0 {
			return fmt.Sprintf("%d links dialled anew", again), nil
		}
		return "", nil
	})
	return fmt.Sprintf("CLIENT KILL: %d connections closed", killed), nil
}

// evict makes a node evict every key at once; it grants again right away.
func evict(ctx context.Context, s *faults.Scope, _ faults.Params, n testbed.Node) (receipt string, err error) {
	before, err := stat(ctx, n, "stats", "evicted_keys")
	if err != nil {
		return "", err
	}
	refill, err := fillUp(ctx, s, n, "allkeys-lru")
	defer func() { err = errors.Join(err, refill(context.WithoutCancel(ctx))) }()
	if err != nil {
		return "", err
	}
	for {
		left, err := ask(ctx, n, "DBSIZE")
		if err != nil {
			return "", err
		}
		if left == 0 || !wait.For(ctx, time.Millisecond) {
			break
		}
	}
	after, err := stat(ctx, n, "stats", "evicted_keys")
	if err != nil || after == before {
		return "", err
	}
	return fmt.Sprintf("%d keys evicted (allkeys-lru)", after-before), ctx.Err()
}

// full gives a node no room under an eviction policy, until the heal. Its
// receipts are the keys that it evicted and the writes that it refused.
func full(policy string) func(context.Context, *faults.Scope, faults.Params, testbed.Node) (string, error) {
	return func(ctx context.Context, s *faults.Scope, _ faults.Params, n testbed.Node) (string, error) {
		before, err := stat(ctx, n, "stats", "evicted_keys")
		if err != nil {
			return "", err
		}
		s.OnHeal("evictions are counted", "nothing is broken", func(ctx context.Context) (string, error) {
			after, err := stat(ctx, n, "stats", "evicted_keys")
			if err != nil || after <= before {
				return "", err
			}
			return fmt.Sprintf("%s evicted %d keys (%s)", n.Name(), after-before, policy), nil
		})
		if err := refused(ctx, s, n, "OOM"); err != nil {
			return "", err
		}
		_, err = fillUp(ctx, s, n, policy)
		return "", err
	}
}

// fillUp leaves a node no room until the heal, or until empty is called.
func fillUp(ctx context.Context, s *faults.Scope, n testbed.Node, policy string) (empty func(context.Context) error, err error) {
	var undo []func(context.Context) error
	empty = func(ctx context.Context) error {
		var errs []error
		for _, u := range slices.Backward(undo) {
			errs = append(errs, u(ctx))
		}
		return errors.Join(errs...)
	}
	for _, set := range [][2]string{{"maxmemory-policy", policy}, {"maxmemory", "1"}} {
		restore, err := configure(ctx, s, n, set[0], set[1])
		if restore != nil {
			undo = append(undo, restore)
		}
		if err != nil {
			return empty, err
		}
	}
	return empty, nil
}

// ttlShift brings the end of every key nearer, as a clock that jumps forward
// does for locks that send relative times.
const ttlShift = `
local moved, cursor = 0, '0'
repeat
  local page = redis.call('SCAN', cursor, 'COUNT', 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do
    local left = redis.call('PTTL', key)
    if left > 0 then
      redis.call('PEXPIRE', key, left - tonumber(ARGV[1]))
      moved = moved + 1
    end
  end
until cursor == '0'
return moved`

func shiftTTL(ctx context.Context, s *faults.Scope, p faults.Params, n testbed.Node) (string, error) {
	by := p.Jump
	if by == 0 {
		by = s.TTL
	}
	moved, err := ask(ctx, n, "EVAL", ttlShift, "0", fmt.Sprint(by.Milliseconds()))
	if err != nil || moved == 0 {
		return "", err
	}
	return fmt.Sprintf("%d keys expire %v earlier", moved, by), nil
}
