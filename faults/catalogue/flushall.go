package catalogue

import (
	"context"
	"fmt"

	"locktorture/faults"
	"locktorture/faults/testbed"
)

var flushallEntry = Entry{
	Name:     "flushall",
	Wire:     "FLUSHALL: the node loses every key while it runs: leases, fences, and what marked it as admitted.",
	Survives: "As an empty restart: the lock must notice that the node has forgotten and keep it out.",
	Beyond:   "nodes do not forget, unless the lock itself keeps such a node out",
	Default:  faults.Params{Node: faults.RoleAny}, Takes: true, KeptOut: true, For: ttlTimes(0),
	New: server(serverFault{name: "flushall", writes: true, prey: keys, commands: []string{"FLUSHALL"}, instant: true, apply: flushall}),
}

// flushall empties a node behind everybody's back.
func flushall(ctx context.Context, _ *faults.Scope, _ faults.Params, n testbed.Node) (string, error) {
	before, err := query(ctx, n, "DBSIZE")
	if err != nil {
		return "", err
	}
	if err := administer(ctx, n, "FLUSHALL"); err != nil {
		return "", err
	}
	after, err := query(ctx, n, "DBSIZE")
	if err != nil || before == 0 {
		return "", err
	}
	return fmt.Sprintf("FLUSHALL: %d keys, then %d", before, after), nil
}
