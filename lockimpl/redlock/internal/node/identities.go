package node

import (
	"errors"
	"fmt"
	"sync"
)

// ErrSameServer reports one server behind two nodes.
var ErrSameServer = errors.New("two nodes are one server")

// Identities remembers which process each node was last seen to be.
type Identities struct {
	mu     sync.Mutex
	byNode map[int]string // run ids
}

// Meeter returns what refuses a server that another node than i is.
func (s *Identities) Meeter(i int) func(runID string) error {
	return func(runID string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		for j, other := range s.byNode {
			if j != i && other == runID {
				return fmt.Errorf("%w: nodes %d and %d, run id %s", ErrSameServer, min(i, j)+1, max(i, j)+1, runID)
			}
		}
		if s.byNode == nil {
			s.byNode = map[int]string{}
		}
		s.byNode[i] = runID
		return nil
	}
}
