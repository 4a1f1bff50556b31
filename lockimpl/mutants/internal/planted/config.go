// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"locktorture/lockimpl/mutants/internal/planted/keys"
)

// DefaultPrefix is the Prefix of a Config that gives none.
const DefaultPrefix = "lock"

// SharedKey reports whether key is one that all locks with a prefix share on a
// node: the admission record, the quarantine, or a fence. Whoever gives a node back
// to other uses removes them last.
func SharedKey(prefix, key string) bool { return keys.Shared(prefix, key) }

// Config describes a lock. The zero value is a good lock: every field has a
// default. All clients of one set of nodes must agree on Prefix, Quorum and
// MaxTTL.
type Config struct {
	Prefix string // of every key on the servers; default DefaultPrefix

	// Name says who the holder of a lease is to those who inspect it, such as
	// host and process: up to 64 printable characters without spaces.
	Name string

	// TTL is the length of leases whose length nobody says: those of Do, of
	// sessions, semaphores and elections. Default 5 s, or MaxTTL when that is
	// shorter.
	TTL time.Duration

	// Quorum is the number of nodes that must grant; 0 means a majority. With
	// 4 of 5, any two nodes may forget everything and neither the lock nor the
	// tokens break, without quarantine and clocks; the price is that only one
	// node may be down.
	Quorum int

	// MaxTTL is the longest lease that can be asked for, and with it the time
	// that a node which lost its memory stays out. Default 10 s, at most a year.
	MaxTTL time.Duration

	// FirstTime says that the nodes have never served, for Bootstrap. It is for
	// the one program that sets up a set of nodes, not for those that use it.
	FirstTime bool

	// AnonymousServers accepts servers that hide or forbid INFO, or a part of it. A restart,
	// or a failover, that brings old data back is then not noticed, and breaks the
	// lock and the tokens; nor is a server that evicts keys, that is a part of a cluster, or
	// that is two of the nodes. It is for servers that come back empty, if at all.
	AnonymousServers bool

	// NodeTimeout bounds one exchange with a node, and an attempt as a whole.
	// It should be well below the shortest TTL in use, and above two round trips.
	// Connecting, which takes several exchanges, goes on behind the calls that ask
	// meanwhile. Default 500 ms.
	NodeTimeout time.Duration

	// RetryMin and RetryMax bound the jittered pause before another attempt
	// when too few nodes answer. Default 8 ms and 128 ms; less than 1 ms counts as that.
	RetryMin, RetryMax time.Duration

	// Backoff, when it is set, says instead how long to pause after so many
	// tries (1 is the first). A waiter never pauses for longer than a third of
	// Patience, nor for less than 1 ms.
	Backoff func(tries int) time.Duration `json:"-"`

	// Patience is how long a waiter that stopped asking keeps its place in
	// the queue: the longest time for which a dead waiter can hold up the
	// others. A live client asks three times as often, once for all its writers
	// that wait for a key. A writer that only tries, and was refused by readers, keeps
	// its place until it tries again for half a second at most. Default 500 ms.
	Patience time.Duration

	// NoProposals switches off the hints that make nodes agree on a token in
	// one round trip, and NoGossip the spreading of the highest token on
	// release and renewal. No guarantee rests on either.
	NoProposals, NoGossip bool

	// Linger, when it is set, is called with a node's name whenever what is queued for
	// that node would be sent, also where that turns out to be nothing; what is queued until
	// it returns goes with it. It is for simulations in virtual time, where what goes
	// together must depend on the instant alone and not on the order in which goroutines
	// run. nil sends at once.
	Linger func(node string) `json:"-"`

	// Observer, when it is set, is told what becomes of every request and lease.
	Observer Observer `json:"-"`
}

// withDefaults fills in what cfg leaves open.
func (cfg Config) withDefaults(nodes int) Config {
	setDefault(&cfg.Prefix, DefaultPrefix)
	setDefault(&cfg.Quorum, nodes/2+1)
	setDefault(&cfg.MaxTTL, 10*time.Second)
	setDefault(&cfg.TTL, min(5*time.Second, cfg.MaxTTL))
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
		return fmt.Errorf("max ttl %v is below %v, the shortest ttl that leaves a holder any time", cfg.MaxTTL, minTTL)
	case cfg.TTL < minTTL || cfg.TTL > cfg.MaxTTL:
		return fmt.Errorf("ttl %v is not between %v and the max ttl, %v", cfg.TTL, minTTL, cfg.MaxTTL)
	case utf8.RuneCountInString(cfg.Name) > 64 || strings.ContainsFunc(cfg.Name, func(r rune) bool { return r <= ' ' || !unicode.IsPrint(r) }):
		return fmt.Errorf("name %q: it must be up to 64 printable characters without spaces", cfg.Name)
	case cfg.NodeTimeout < 0:
		return fmt.Errorf("node timeout %v is negative", cfg.NodeTimeout)
	case cfg.NodeTimeout < 100*time.Microsecond:
		return fmt.Errorf("node timeout %v is below 100µs, in which no server answers: it is a time.Duration, such as 500*time.Millisecond", cfg.NodeTimeout)
	case cfg.RetryMin < 0 || cfg.RetryMax < cfg.RetryMin:
		return fmt.Errorf("retry between %v and %v: not a range", cfg.RetryMin, cfg.RetryMax)
	case cfg.Patience < 10*time.Millisecond:
		return fmt.Errorf("patience %v is below 10ms", cfg.Patience)
	}
	for name, d := range map[string]time.Duration{
		"max ttl": cfg.MaxTTL, "node timeout": cfg.NodeTimeout, "longest retry": cfg.RetryMax, "patience": cfg.Patience,
	} {
		if d > mostDuration {
			return fmt.Errorf("%s %v is above %v, the longest time that a lock reckons with", name, d, mostDuration)
		}
	}
	return nil
}

// mostDuration bounds every duration of a Config, so that the sums that are made of them,
// here and in the scripts, do not overflow: a quarantine that did would be over at once.
const mostDuration = 365 * 24 * time.Hour

// milliseconds is a duration that a node said, at most a hundred times mostDuration.
func milliseconds(said int64) time.Duration {
	return time.Duration(min(said, (100*mostDuration).Milliseconds())) * time.Millisecond
}

// checkNumber refuses sets over which a majority means less than it says.
func checkNumber(nodes int) error {
	switch {
	case nodes == 0:
		return errors.New("no nodes")
	case nodes%2 == 0:
		return fmt.Errorf("%d nodes: an even number tolerates no more failures than one less", nodes)
	case nodes > maxNodes:
		return fmt.Errorf("%d nodes: at most %d", nodes, maxNodes)
	}
	return nil
}

// maxNodes is how many fit into a set of bits.
const maxNodes = 63

// tooLong is the error of node i, which grants at most so many milliseconds.
func (l *Lock) tooLong(i int, most int64) error {
	return fmt.Errorf("node %s: %w, at most %d ms", l.nodes[i].Name(), ErrTTLTooLong, most)
}

// checkRequest refuses a request before anything is sent.
func (l *Lock) checkRequest(key string, ttl time.Duration) error {
	if key == "" {
		return fmt.Errorf("acquire: %w: empty key", ErrMisconfigured)
	}
	return l.checkTTL(ttl)
}

func (l *Lock) checkTTL(ttl time.Duration) error {
	switch {
	case ttl < minTTL:
		return fmt.Errorf("%w: ttl %v is below %v, the shortest that leaves a holder any time", ErrMisconfigured, ttl, minTTL)
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
)

// minTTL is the shortest lease in whole milliseconds of which drift leaves
// anything.
const minTTL = 3 * time.Millisecond

// Drift is the part of ttl that a holder gives up.
func Drift(ttl time.Duration) time.Duration {
	return time.Duration(float64(ttl)*driftFactor) + driftFixed
}

// validity is the part of ttl that a holder may use.
func validity(ttl time.Duration) time.Duration { return ttl - Drift(ttl) }
