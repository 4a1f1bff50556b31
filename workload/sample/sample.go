// Package sample looks at what the nodes store under the keys of the lock under
// test while a run goes on, past every link, and records it as node witnesses.
package sample

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"locktorture/workload/history"
)

// A Node is a Redis server that can be looked at directly.
type Node interface {
	Name() string
	Dial(ctx context.Context) (net.Conn, error)
}

// A Looker is a node that can be looked into without a connection. Look returns how long
// what is stored under a key is still there, as store.Absent and store.NoExpiry have it,
// and its text, as store.Text does.
type Looker interface {
	Look(key string) (left time.Duration, text string, err error)
}

// A Key is a lease-bearing key on a node, and the resource that it stands for.
type Key struct{ Resource, Name string }

// Config says at what to look, and how often.
type Config struct {
	Nodes []Node
	Keys  []Key
	TTL   time.Duration // of the leases: what lasts for a small part of it is not looked for
	Grain time.Duration // looks are whole multiples of it apart; 0: of anything
}

// Bounds on what the looks may cost.
const (
	looksPerTTL   = 20
	leastInterval = 25 * time.Millisecond
	mostInterval  = 250 * time.Millisecond
	mostCommands  = 500 // per second and node
	mostKeys      = 128 // of one node

	toldPerTTL = 8 // a key that stays as it is is told again so often
)

// Every is the time between two looks at one node.
func (c Config) Every() time.Duration {
	every := min(max(c.TTL/looksPerTTL, leastInterval), mostInterval)
	commands := 2*len(c.Keys) + 2 // MULTI and EXEC
	every = max(every, time.Duration(commands)*time.Second/mostCommands)
	if c.Grain > 0 {
		every = every.Truncate(c.Grain)
	}
	return every
}

// Left says how many of the keys are not looked at, for there are too many.
func (c Config) Left() int { return max(len(c.Keys)-mostKeys, 0) }

// A ForbiddenError says that a server does not let itself be looked at.
type ForbiddenError struct {
	Node string
	Err  error
}

func (e *ForbiddenError) Error() string { return fmt.Sprintf("look at %s: %v", e.Node, e.Err) }
func (e *ForbiddenError) Unwrap() error { return e.Err }

// Watch looks at every node again and again until ctx ends, and records what has
// changed, and at intervals what has not. A node that does not answer is recorded
// as such, once. The error lists the nodes that forbid it, each a *ForbiddenError;
// the others are watched all the same.
func Watch(ctx context.Context, c Config, rec *history.Recorder) error {
	c.Keys = c.Keys[:len(c.Keys)-c.Left()]
	errs := make([]error, len(c.Nodes))
	var wg sync.WaitGroup
	for i, n := range c.Nodes {
		wg.Go(func() { errs[i] = newSampler(c, n, rec).watch(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// forbidden reports whether a server refused a command to this user.
func forbidden(err error) bool {
	for _, mark := range []string{"NOPERM", "NOAUTH", "unknown command"} {
		if err != nil && strings.Contains(err.Error(), mark) {
			return true
		}
	}
	return false
}
