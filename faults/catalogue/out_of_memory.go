package catalogue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"locktorture/faults"
	"locktorture/faults/testbed"
)

var outOfMemoryEntry = Entry{
	Name:     "out-of-memory",
	Wire:     "maxmemory is reached under noeviction: the node answers OOM to commands that need memory.",
	Survives: "OOM is a definite no from that node; release and renewal need no memory and go on.",
	Default:  faults.Params{Node: faults.RoleAny}, Takes: true, For: ttlTimes(0.5),
	New: server(serverFault{name: "out-of-memory", writes: true, commands: []string{"CONFIG"}, apply: full("noeviction")}),
}

// full leaves a node no memory under an eviction policy, until the heal. Its receipts are the
// keys that it evicted and the writes that it refused.
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

// fillUp leaves a node no memory until the heal, or until empty is called.
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
