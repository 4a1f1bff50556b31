package catalogue

import (
	"context"
	"fmt"

	"locktorture/faults"
	"locktorture/faults/testbed"
)

var ttlShiftEntry = Entry{
	Name:     "ttl-shift",
	Wire:     "Every key of the node expires one TTL earlier: what a clock that jumps forward does to relative times.",
	Survives: "One node's early expiry is no quorum by itself; with a second cause it breaks exclusion.",
	Beyond:   "clocks of nodes do not jump",
	Default:  faults.Params{Node: faults.RoleAny}, For: ttlTimes(0),
	New: server(serverFault{name: "ttl-shift", writes: true, more: []string{"jump"}, prey: expiring, instant: true, apply: shiftTTL}),
}

// ttlShift shortens the time to live of every key, like a clock that jumps forward does for
// locks that send relative times.
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
	moved, err := query(ctx, n, "EVAL", ttlShift, "0", fmt.Sprint(by.Milliseconds()))
	if err != nil || moved == 0 {
		return "", err
	}
	return fmt.Sprintf("%d keys expire %v earlier", moved, by), nil
}
