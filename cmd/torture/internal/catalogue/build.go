package catalogue

import (
	"context"
	"errors"
	"fmt"
	"net"

	"locktorture/cmd/torture/internal/config"
	"locktorture/lockimpl"
)

// Build makes the lock on n masters that nobody can reach. A lock in a child
// process is not built: that would start it.
func (l Lock) Build(c config.Config, n int) (lockimpl.Locker, error) {
	if l.Child {
		return notBuilt{}, nil
	}
	nodes := make([]lockimpl.Node, n)
	for i := range nodes {
		nodes[i] = lockimpl.Node{Name: fmt.Sprintf("n%d", i+1), Addr: fmt.Sprintf("192.0.2.%d:6379", i+1), Dial: unreachable}
	}
	return l.Factory(c)(nodes)
}

func unreachable(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("nothing is started yet")
}

// notBuilt stands for a lock that is not built.
type notBuilt struct{ lockimpl.Locker }

// Close implements lockimpl.Locker.
func (notBuilt) Close() error { return nil }
