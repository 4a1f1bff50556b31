package faults

import (
	"context"
	"fmt"
	"time"

	"locktorture/faults/testbed"
)

// flushall empties a node behind everybody's back.
func flushall(ctx context.Context, _ *Target, _ Params, n testbed.Node) (string, error) {
	before, err := ask(ctx, n, "DBSIZE")
	if err != nil {
		return "", err
	}
	if err := tell(ctx, n, "FLUSHALL"); err != nil {
		return "", err
	}
	after, err := ask(ctx, n, "DBSIZE")
	return fmt.Sprintf("FLUSHALL: %d keys, then %d", before, after), err
}

// scriptFlush makes a node forget every cached script.
func scriptFlush(ctx context.Context, _ *Target, _ Params, n testbed.Node) (string, error) {
	const probe = "return 'locktorture'"
	digest, err := testbed.Do(ctx, n, "SCRIPT", "LOAD", probe)
	if err != nil {
		return "", err
	}
	if err := tell(ctx, n, "SCRIPT", "FLUSH"); err != nil {
		return "", err
	}
	_, err = testbed.Do(ctx, n, "EVALSHA", fmt.Sprint(digest), "0")
	if err == nil {
		return "", fmt.Errorf("SCRIPT FLUSH left a script behind")
	}
	return "SCRIPT FLUSH: " + err.Error(), nil
}

// kick closes every client's connection from the server's side.
func kick(ctx context.Context, _ *Target, _ Params, n testbed.Node) (string, error) {
	killed, err := ask(ctx, n, "CLIENT", "KILL", "TYPE", "normal")
	if err != nil || killed == 0 {
		return "", err
	}
	return fmt.Sprintf("CLIENT KILL: %d connections closed", killed), nil
}

// evict makes a node evict every key at once; it grants again right away.
func evict(ctx context.Context, t *Target, _ Params, n testbed.Node) (string, error) {
	before, err := stat(ctx, n, "stats", "evicted_keys")
	if err != nil {
		return "", err
	}
	if err := fillUp(ctx, t, n, "allkeys-lru"); err != nil {
		return "", err
	}
	for {
		left, err := ask(ctx, n, "DBSIZE")
		if err != nil {
			return "", err
		}
		if left == 0 || !sleep(ctx, time.Millisecond) {
			break
		}
	}
	after, err := stat(ctx, n, "stats", "evicted_keys")
	if err != nil || after == before {
		return "", err
	}
	return fmt.Sprintf("%d keys evicted (allkeys-lru)", after-before), ctx.Err()
}

// full gives a node no room under an eviction policy, until the heal.
func full(policy string) func(context.Context, *Target, Params, testbed.Node) (string, error) {
	return func(ctx context.Context, t *Target, _ Params, n testbed.Node) (string, error) {
		before, err := stat(ctx, n, "stats", "evicted_keys")
		if err != nil {
			return "", err
		}
		t.OnHeal(n.Name()+" is full", "redis-cli CONFIG SET maxmemory 0 on "+n.Addr(), func(ctx context.Context) (string, error) {
			return fullness(ctx, n, policy, before)
		})
		return "", fillUp(ctx, t, n, policy)
	}
}

func fillUp(ctx context.Context, t *Target, n testbed.Node, policy string) error {
	if err := configure(ctx, t, n, "maxmemory-policy", policy); err != nil {
		return err
	}
	return configure(ctx, t, n, "maxmemory", "1")
}

// fullness says what a full node did: keys that it evicted, or a write that it
// refuses still.
func fullness(ctx context.Context, n testbed.Node, policy string, before int64) (string, error) {
	after, err := stat(ctx, n, "stats", "evicted_keys")
	if err != nil {
		return "", err
	}
	if after > before {
		return fmt.Sprintf("%s evicted %d keys (%s)", n.Name(), after-before, policy), nil
	}
	refused, err := stat(ctx, n, "stats", "total_error_replies")
	if err != nil || refused == 0 {
		return "", err
	}
	return fmt.Sprintf("%s refused writes (%s): %d error replies so far", n.Name(), policy, refused), nil
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

func shiftTTL(ctx context.Context, t *Target, p Params, n testbed.Node) (string, error) {
	by := p.Jump
	if by == 0 {
		by = t.TTL
	}
	moved, err := ask(ctx, n, "EVAL", ttlShift, "0", fmt.Sprint(by.Milliseconds()))
	if err != nil || moved == 0 {
		return "", err
	}
	return fmt.Sprintf("%d keys expire %v earlier", moved, by), nil
}
