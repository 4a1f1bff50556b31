package catalogue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"locktorture/faults"
	"locktorture/faults/testbed"
)

var kickClientsEntry = Entry{
	Name:     "kick-clients",
	Wire:     "CLIENT KILL TYPE normal: the server closes every client's connection.",
	Survives: "What was under way is unknown; leases live on; clients reconnect.",
	Default:  faults.Params{Node: faults.RoleAny}, For: ttlTimes(0),
	New: server(serverFault{name: "kick-clients", commands: []string{"CLIENT"}, instant: true, apply: kick}),
}

// kick closes every client's connection from the server's side. It has taken effect
// when a client has dialled anew since.
func kick(ctx context.Context, s *faults.Scope, _ faults.Params, n testbed.Node) (string, error) {
	ops := s.Operations(faults.Hit{Nodes: linkEnds(s, []testbed.Node{n})})
	killed, err := killClients(ctx, n)
	if err != nil || killed == 0 {
		return "", err
	}
	s.ProvedBy(func() bool { return ops.Dialled() > 0 || ops.Met() && ops.Blind() }) // in this order: what passes in between is seen by the links
	s.OnHeal("reconnections are counted", "nothing is broken", func(context.Context) (string, error) {
		if again := ops.Dialled(); again > 0 {
			return fmt.Sprintf("%d links dialled anew", again), nil
		}
		return "", nil
	})
	return fmt.Sprintf("CLIENT KILL: %d connections closed", killed), nil
}

// killClients makes a node close the connections of all that neither subscribe
// nor replicate, and returns how many.
func killClients(ctx context.Context, n testbed.Node) (closed int64, err error) {
	var reply any
	err = unkicked(func() (err error) {
		reply, err = n.(testbed.Administrable).Administer(ctx, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		return err
	})
	if err != nil {
		return 0, err
	}
	closed, ok := reply.(int64)
	if !ok {
		return 0, fmt.Errorf("CLIENT KILL answers %v: want a number", reply)
	}
	return closed, nil
}

// unkicked calls a function that asks a server, and calls it again where a fault that closes
// all connections has closed that one too.
func unkicked(do func() error) error {
	err := do()
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) {
		err = do()
	}
	return err
}
