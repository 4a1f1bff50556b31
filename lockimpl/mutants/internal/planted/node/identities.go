// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package node

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrSameServer reports one server behind two nodes.
var ErrSameServer = errors.New("two nodes are one server")

// errMoved reports a server that another node was a moment ago: it may be asked when
// nothing is under way any more to which it has answered as that one.
var errMoved = errors.New("another node was this server a moment ago")

// Identities remembers which process each node is. Servers may change places behind
// their addresses: a process that a node has no connection to any more may be another
// node after Pause, which is as long as an exchange may take, so that none of them counts
// its answer twice.
type Identities struct {
	Pause time.Duration

	mu     sync.Mutex
	byNode map[int]identified
}

// identified is the process that a node was last seen to be.
type identified struct {
	runID  string
	parted time.Time // when the connection ended; zero: it has not
}

// Meeter returns what refuses a server that another node than i is, as far as it says who it is.
func (s *Identities) Meeter(i int) func(runID string) error {
	return func(runID string) error {
		if runID == "" {
			return nil
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for j, other := range s.byNode {
			switch {
			case j == i || other.runID != runID:
			case other.parted.IsZero():
				return fmt.Errorf("%w: nodes %d and %d, run id %s", ErrSameServer, min(i, j)+1, max(i, j)+1, runID)
			case time.Since(other.parted) <= s.Pause:
				return fmt.Errorf("%w: node %d is now what node %d was, run id %s", errMoved, i+1, j+1, runID)
			}
		}
		if s.byNode == nil {
			s.byNode = map[int]identified{}
		}
		s.byNode[i] = identified{runID: runID}
		return nil
	}
}

// Parter returns what notes that the connection of node i has ended.
func (s *Identities) Parter(i int) func() {
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if was, ok := s.byNode[i]; ok && was.parted.IsZero() {
			was.parted = time.Now()
			s.byNode[i] = was
		}
	}
}
