// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"locktorture/lockimpl"
	"locktorture/lockimpl/mutants/internal/planted/node"
)

// What became of a request. ErrHeld says that somebody else has the key; any
// other error of an acquire that is not ErrMisconfigured, ErrTTLTooLong or
// ErrClosed is an outage, and says nothing about who has it: "somebody else is
// at it" must not be concluded from it.
var (
	// ErrHeld reports that somebody else holds the key: without that there
	// would have been a quorum.
	ErrHeld = lockimpl.ErrHeld

	// ErrNoQuorum reports that too few nodes answered, or granted, or that none was
	// asked, and that nothing of the attempt is left. The errors of the nodes are in it.
	ErrNoQuorum = lockimpl.ErrNoQuorum

	// ErrUnknown reports that what was asked for may have happened or not: too
	// few nodes answered in time. What may have been granted is being given back.
	ErrUnknown = errors.New("outcome unknown")

	// ErrLost reports that the lease had ended: it ran out, the machine was
	// suspended, or too many nodes have it no more.
	ErrLost = lockimpl.ErrLost

	// ErrReleased is why the context of a lease ended that was given back, and what Extend
	// answers then, together with ErrLost.
	ErrReleased = errors.New("lease released")

	// ErrClosed reports that the lock was closed. Its leases run out by themselves.
	ErrClosed = node.ErrClosed

	// ErrTTLTooLong reports that a lease was asked for, or was to be extended,
	// for longer than Config.MaxTTL or than the nodes were admitted for. A lease
	// that was to be extended is as it was.
	ErrTTLTooLong = errors.New("ttl is longer than the nodes grant")
)

// What is wrong with nodes. These come inside an ErrNoQuorum, or from New.
var (
	// ErrMisconfigured reports what waiting does not mend: no client of a
	// lock can be made like this, no lease can be this short, what was asked for cannot be
	// (an empty key, no context), or a server refuses the user, or a command, evicts keys, or
	// has something else under a key of the lock.
	ErrMisconfigured = errors.New("misconfigured")

	// ErrNotAdmitted reports a node that is new or has lost its data, and sits
	// out its quarantine. It serves by itself when that is over.
	ErrNotAdmitted = errors.New("not admitted: new, or restarted without its data, it sits out its quarantine")

	// ErrSameServer reports one server behind two nodes: its vote would count
	// twice.
	ErrSameServer = node.ErrSameServer

	// ErrAnonymousServer reports a server that does not say who it is; see
	// Config.AnonymousServers.
	ErrAnonymousServer = node.ErrAnonymous

	// ErrClusterMode reports a server of a Redis Cluster.
	ErrClusterMode = node.ErrClusterMode

	// ErrEvictingServer reports a server that drops keys, and with them leases that are
	// held, when its memory is full: maxmemory is set, and maxmemory-policy not noeviction.
	ErrEvictingServer = node.ErrEvicting
)

// errGivenBack is what is told of a lease that was given back and is asked for more. It is
// an ErrLost too: nobody may rely on the lease.
var errGivenBack error = givenBack{}

type givenBack struct{}

// Error implements error.
func (givenBack) Error() string { return ErrReleased.Error() }

// Unwrap is for errors.Is.
func (givenBack) Unwrap() []error { return []error{ErrReleased, ErrLost} }

// mostShown is how many bytes of a key an error shows.
const mostShown = 100

// shown is how an error names a key: a long one by its beginning and its length, and one
// that would not be a part of one line in quotes.
func shown(key string) string {
	name := key
	if len(key) > mostShown {
		name = strings.ToValidUTF8(key[:mostShown], "") + "…"
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		name = strconv.Quote(name)
	}
	if len(key) > mostShown {
		name += fmt.Sprintf(" (%d bytes)", len(key))
	}
	return name
}

// misconfigured says that err is of the configuration.
func misconfigured(err error) error { return fmt.Errorf("new lock: %w: %w", ErrMisconfigured, err) }

// of says that err is of node i, and that waiting does not mend it where that is so;
// nil stays nil.
func (l *Lock) of(i int, err error) error {
	switch {
	case err == nil:
		return nil
	case node.IsMissingPermission(err):
		return fmt.Errorf("node %s: %w: %w (the README lists what the user has to be permitted)", l.nodes[i].Name(), ErrMisconfigured, err)
	case node.IsPermanent(err):
		return fmt.Errorf("node %s: %w: %w", l.nodes[i].Name(), ErrMisconfigured, err)
	}
	return fmt.Errorf("node %s: %w", l.nodes[i].Name(), err)
}

// hopeless marks an error that waiting does not mend.
type hopeless struct{ error }

// Unwrap is for errors.Is and errors.As.
func (h hopeless) Unwrap() error { return h.error }

// countHopeless counts the nodes that say what they will say again until somebody
// changes their configuration, or the client's.
func countHopeless(reasons []error) (n int) {
	for _, err := range reasons {
		if err != nil && (node.IsPermanent(err) || errors.Is(err, ErrSameServer) || errors.Is(err, ErrTTLTooLong)) {
			n++
		}
	}
	return n
}

// joined wraps first and those of rest that are not nil.
func joined(first error, rest ...error) error {
	if err := oneLine(rest...); err != nil {
		return fmt.Errorf("%w: %w", first, err)
	}
	return first
}

// severalErrors is what errors.Join makes, on one line.
type severalErrors []error

// oneLine wraps those of errs that are not nil, and returns nil when all are.
func oneLine(errs ...error) error {
	some := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if len(some) == 0 {
		return nil
	}
	return severalErrors(some)
}

// Error implements error.
func (s severalErrors) Error() string {
	var b strings.Builder
	for i, err := range s {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return b.String()
}

// Unwrap is for errors.Is and errors.As.
func (s severalErrors) Unwrap() []error { return s }
