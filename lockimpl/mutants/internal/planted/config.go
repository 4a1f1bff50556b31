// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"errors"
	"fmt"
	"time"

	"locktorture/lockimpl"
)

// Config describes a lock. The zero value is a good lock: every field has a
// default. All clients of one set of nodes must agree on Prefix, Quorum and
// MaxTTL.
type Config struct {
	Prefix   string // of every key on the servers; default "lock"
	Username string // of the servers, when they ask for one
	Password string `json:"-"`

	// Quorum is the number of nodes that must grant; 0 means a majority. With
	// 4 of 5, any two nodes may forget everything and neither the lock nor the
	// tokens break, without quarantine and clocks; the price is that only one
	// node may be down.
	Quorum int

	// MaxTTL is the longest lease that can be asked for, and with it the time
	// that a node which lost its memory stays out. Default 10 s.
	MaxTTL time.Duration

	// FirstTime says that the nodes have never served, for Bootstrap. It is for
	// the one program that sets up a set of nodes, not for those that use it.
	FirstTime bool

	// AnonymousServers accepts servers that hide or forbid INFO. A restart, or a
	// failover, that brings old data back is then not noticed, and breaks the
	// lock and the tokens. It is for servers that come back empty, if at all.
	AnonymousServers bool

	// NodeTimeout bounds one exchange with a node, and an attempt as a whole.
	// It should be well below the shortest TTL in use. Default 500 ms.
	NodeTimeout time.Duration

	// RetryMin and RetryMax bound the jittered pause before another attempt
	// when too few nodes answer. Default 8 ms and 128 ms.
	RetryMin, RetryMax time.Duration

	// Patience is how long a waiter that stopped asking keeps its place in
	// the queue: the longest time for which a dead waiter can hold up the
	// others. A live one asks three times as often. Default 500 ms.
	Patience time.Duration

	// NoProposals switches off the hints that make nodes agree on a token in
	// one round trip, and NoGossip the spreading of the highest token on
	// release and renewal. No guarantee rests on either.
	NoProposals, NoGossip bool
}

// withDefaults fills in what cfg leaves open.
func (cfg Config) withDefaults(nodes int) Config {
	setDefault(&cfg.Prefix, "lock")
	setDefault(&cfg.Quorum, nodes/2+1)
	setDefault(&cfg.MaxTTL, 10*time.Second)
	setDefault(&cfg.NodeTimeout, 500*time.Millisecond)
	setDefault(&cfg.RetryMin, 8*time.Millisecond)
	setDefault(&cfg.RetryMax, max(128*time.Millisecond, cfg.RetryMin))
	setDefault(&cfg.Patience, 500*time.Millisecond)
	return cfg
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// check refuses what cannot be a lock.
func (cfg Config) check(nodes int) error {
	switch {
	case 2*cfg.Quorum <= nodes || cfg.Quorum > nodes:
		return fmt.Errorf("quorum %d of %d nodes: it must be a majority of them", cfg.Quorum, nodes)
	case cfg.MaxTTL < minTTL:
		return fmt.Errorf("max ttl %v is below %v", cfg.MaxTTL, minTTL)
	case cfg.NodeTimeout < 0:
		return fmt.Errorf("node timeout %v is negative", cfg.NodeTimeout)
	case cfg.RetryMin < 0 || cfg.RetryMax < cfg.RetryMin:
		return fmt.Errorf("retry between %v and %v: not a range", cfg.RetryMin, cfg.RetryMax)
	case cfg.Patience < 10*time.Millisecond:
		return fmt.Errorf("patience %v is below 10ms", cfg.Patience)
	}
	return nil
}

// checkNodes refuses sets over which a majority means less than it says.
func checkNodes(nodes []lockimpl.Node) error {
	if len(nodes) == 0 {
		return errors.New("no nodes")
	}
	if len(nodes)%2 == 0 {
		return fmt.Errorf("%d nodes: an even number tolerates no more failures than one less", len(nodes))
	}
	names, addrs := map[string]bool{}, map[string]bool{}
	for i, n := range nodes {
		if n.Addr == "" && n.Dial == nil {
			return fmt.Errorf("node %d has no address", i)
		}
		if n.Name != "" && names[n.Name] || n.Addr != "" && addrs[n.Addr] {
			return fmt.Errorf("node %s %s appears twice", n.Name, n.Addr)
		}
		names[n.Name], addrs[n.Addr] = true, true
	}
	return nil
}

// ErrTTLTooLong reports that a lease was asked for, or was to be extended, for
// longer than Config.MaxTTL or than the nodes were admitted for. A lease that
// was to be extended is as it was.
var ErrTTLTooLong = errors.New("ttl is longer than the nodes grant")

// tooLong is the error of node i, which grants at most so many milliseconds.
func (l *Lock) tooLong(i int, most int64) error {
	return fmt.Errorf("node %s: %w, at most %d ms", l.nodes[i].Name(), ErrTTLTooLong, most)
}

// checkRequest refuses a request before anything is sent.
func (l *Lock) checkRequest(key string, ttl time.Duration) error {
	if key == "" {
		return errors.New("acquire: empty key")
	}
	return l.checkTTL(ttl)
}

func (l *Lock) checkTTL(ttl time.Duration) error {
	switch {
	case ttl < minTTL:
		return fmt.Errorf("ttl %v is below %v", ttl, minTTL)
	case ttl > l.cfg.MaxTTL:
		return fmt.Errorf("%w: %v, and Config.MaxTTL is %v", ErrTTLTooLong, ttl, l.cfg.MaxTTL)
	}
	return nil
}

// A lease is given up early by this much, for clocks that run at different
// rates and for Redis's resolution of a millisecond.
const (
	driftFactor = 0.01
	driftFixed  = 2 * time.Millisecond
	minTTL      = time.Millisecond
)

// Drift is the part of ttl that a holder gives up.
func Drift(ttl time.Duration) time.Duration {
	return time.Duration(float64(ttl)*driftFactor) + driftFixed
}

// validity is the part of ttl that a holder may use.
func validity(ttl time.Duration) time.Duration { return ttl - Drift(ttl) }
