package catalogue

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"locktorture/faults"
	"locktorture/faults/testbed"
)

var demoteEntry = Entry{
	Name:     "demote",
	Wire:     "REPLICAOF: the node serves reads and answers READONLY to every write, release and renewal.",
	Survives: "READONLY is a definite no from that node; leases are held by the others.",
	Default:  faults.Params{Node: faults.RoleAny}, Takes: true, For: ttlTimes(0.5),
	New: server(serverFault{name: "demote", writes: true, commands: []string{"REPLICAOF"}, apply: demote}),
}

// demote makes a node a replica of a master that does not exist: it serves reads and refuses
// writes.
func demote(ctx context.Context, s *faults.Scope, _ faults.Params, n testbed.Node) (string, error) {
	s.OnHeal(n.Name()+" is a replica", "redis-cli REPLICAOF NO ONE on "+n.Addr(), func(ctx context.Context) (string, error) {
		return "", administer(ctx, n, "REPLICAOF", "NO", "ONE")
	})
	if err := administer(ctx, n, "REPLICAOF", "127.0.0.1", "1"); err != nil {
		return "", err
	}
	_, err := testbed.Do(ctx, n, "DEL", probeKey)
	switch {
	case err == nil:
		return "", errors.New("write to a demoted node: want READONLY, and it was carried out")
	case !strings.Contains(err.Error(), "READONLY"):
		return "", fmt.Errorf("write to a demoted node: want READONLY, got %w", err)
	}
	return "", refused(ctx, s, n, "READONLY")
}
