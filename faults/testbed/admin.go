package testbed

import (
	"context"
	"fmt"
	"strings"
)

// CanAdminister implements Administrable: a real server knows every command. Who is a
// master is not for commands to say where Redis Sentinel or Redis Cluster does.
func (n *processNode) CanAdminister(command string) error {
	if n.elected && strings.EqualFold(command, "REPLICAOF") {
		return fmt.Errorf("%s on %s: Redis Sentinel or Redis Cluster says who is a replica; a process testbed leaves it to commands: %w", command, n.name, ErrUnsupported)
	}
	return nil
}

// Administer implements Administrable.
func (n *processNode) Administer(ctx context.Context, args ...string) (any, error) {
	n.vitals.noteCommand(args)
	return administer(ctx, n, args)
}

// embeddedAdmin are the commands that an embedded node knows.
var embeddedAdmin = map[string]bool{"FLUSHALL": true, "FLUSHDB": true, "SCRIPT": true, "SWAPDB": true}

// CanAdminister implements Administrable.
func (n *embeddedNode) CanAdminister(command string) error {
	if !embeddedAdmin[strings.ToUpper(command)] {
		return fmt.Errorf("%s on %s: an embedded node does not know it; a process testbed does: %w", command, n.name, ErrUnsupported)
	}
	return nil
}

// Administer implements Administrable.
func (n *embeddedNode) Administer(ctx context.Context, args ...string) (any, error) {
	if err := n.CanAdminister(args[0]); err != nil {
		return nil, err
	}
	return administer(ctx, n, args)
}

func administer(ctx context.Context, n Node, args []string) (any, error) {
	reply, err := Do(ctx, n, args...)
	if err != nil {
		return nil, fmt.Errorf("administer %s: %w", n.Name(), err)
	}
	return reply, nil
}
