package catalogue

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/wait"
	"locktorture/faults/testbed"
)

var slowNodeEntry = Entry{
	Name:     "slow-node",
	Wire:     "The server is busy most of the time, with scripts of a hundredth of the TTL one after another.",
	Survives: "A quorum of the others decides; the slow node's late grants are undone.",
	Default:  faults.Params{Node: faults.RoleAny}, Takes: true, For: ttlTimes(1),
	New: server(serverFault{name: "slow-node", more: []string{"delay"}, commands: []string{"DEBUG"}, apply: slowNode}),
}

// spin keeps the server busy for about ARGV[1] microseconds.
const spin = `
local function now() local t = redis.call('TIME') return t[1] * 1000000 + t[2] end
local began = now()
for i = 1, 1000000 do
  if now() - began >= tonumber(ARGV[1]) then return i end
end
return 0`

// slowNode keeps a server busy most of the time: each command waits for the
// others' work.
func slowNode(_ context.Context, s *faults.Scope, p faults.Params, n testbed.Node) (string, error) {
	burst := p.Delay
	if burst == 0 {
		burst = max(s.TTL/100, time.Millisecond)
	}
	var bursts atomic.Int64
	s.Background(n.Name()+" is kept busy", func(ctx context.Context) error {
		for wait.For(ctx, burst/4) {
			_, err := testbed.Do(ctx, n, "EVAL", spin, "0", fmt.Sprint(burst.Microseconds()))
			if err != nil && ctx.Err() == nil {
				return err
			}
			bursts.Add(1)
		}
		return nil
	}, func() string {
		if bursts.Load() == 0 {
			return ""
		}
		return fmt.Sprintf("%s was busy %d times for %v", n.Name(), bursts.Load(), burst)
	})
	return "", nil
}
