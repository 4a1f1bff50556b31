package lockimpl

import (
	"context"
	"errors"
	"net"
	"time"
)

// Definite answers. After any other error of Acquire, Extend or Release the
// outcome is unknown: the servers may have acted, or may act yet.
var (
	// ErrHeld reports that another owner holds the key: nothing was taken, or
	// what was taken of it has been given back.
	ErrHeld = errors.New("lock held by another owner")

	// ErrNoQuorum reports that too many nodes refused, definitely, for a
	// quorum to be possible; the undo of partial grants was sent.
	ErrNoQuorum = errors.New("no quorum of nodes granted the lock")

	// ErrLost reports that the lease had ended before the call took effect.
	ErrLost = errors.New("lease lost")
)

// A Node is one Redis server as one client sees it. Dial, when set, is the
// only way to it: an implementation that connects any other way escapes the
// faults. A nil Dial means plain TCP to Addr.
//
// A connection that Dial returns takes commands at once: whatever the server asks
// for (TLS, a password, a database) is done. Who connects to Addr without it, such
// as a lock in another process, logs in with Username and Password, where there
// is one, and selects DB; there is no TLS to speak.
type Node struct {
	Name string
	Addr string
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	Username string // empty: the default user
	Password string // empty: none; not to be shown or kept
	DB       int

	// Sentinel, when set, says that the master moves: Addr is empty, and who asks
	// one of the Sentinels for the master learns an address for Dial.
	Sentinel *Sentinel

	// Cluster, when set, says that the keys are spread over the servers of a Redis
	// Cluster: Addr is empty, and who asks one of these (host:port) for the slots
	// learns addresses for Dial.
	Cluster []string
}

// A Sentinel says where a master is asked for that Redis Sentinel watches. Dial
// takes the addresses of the Sentinels, and every address that they answer with.
type Sentinel struct {
	Master string   // the name under which they know the master
	Addrs  []string // host:port of each
}

// A Factory builds the Locker of one client. The nodes are independent masters
// in Redlock's sense; a lock for a single master uses the first.
type Factory func(nodes []Node) (Locker, error)

// A Locker takes leases on keys. One Locker is one client: it has connections
// of its own. It is safe for concurrent use.
type Locker interface {
	// Acquire makes one attempt to take key for ttl.
	Acquire(ctx context.Context, key string, ttl time.Duration) (Lease, error)

	// Close waits for what the locker still has under way (undo, release) and
	// closes its connections. It does not release leases.
	Close() error
}

// A Lease is one holding of one key. It is safe for concurrent use.
type Lease interface {
	// Fence returns the fencing token, strictly increasing per key across
	// owners, or 0 when the lock issues none.
	Fence() uint64

	// ValidUntil returns the local instant after which the holder must stop:
	// start of the acquisition or of the last successful extension + ttl −
	// drift allowance. The zero time means that the lock promises none.
	ValidUntil() time.Time

	// Extend renews the lease for ttl from now.
	Extend(ctx context.Context, ttl time.Duration) error

	// Release ends the lease. It returns ErrLost when it had ended already.
	Release(ctx context.Context) error
}

// The abilities below are optional. A workload that needs one that a lock
// lacks is skipped, and says so.
type (
	// A WaitLocker waits until it is granted the key or ctx ends. When ctx ends
	// and nothing of this client's is left on a quorum, the error is ErrHeld, or
	// ErrNoQuorum where too few nodes answered.
	WaitLocker interface {
		AcquireWait(ctx context.Context, key string, ttl time.Duration) (Lease, error)
	}

	// A SharedLocker grants leases that exclude exclusive ones only (readers).
	SharedLocker interface {
		AcquireShared(ctx context.Context, key string, ttl time.Duration) (Lease, error)
	}

	// A FairLocker waits like a WaitLocker, first come first served.
	FairLocker interface {
		AcquireFair(ctx context.Context, key string, ttl time.Duration) (Lease, error)
	}

	// A ReentrantLocker grants a key again to the owner that holds it, with
	// the same token; the last release frees it.
	ReentrantLocker interface {
		AcquireAs(ctx context.Context, owner, key string, ttl time.Duration) (Lease, error)
	}

	// A MultiLocker takes all of keys or none, without deadlock. The leases
	// answer keys in their order.
	MultiLocker interface {
		AcquireAll(ctx context.Context, keys []string, ttl time.Duration) ([]Lease, error)
	}

	// An UntimedLocker may be asked for a lease of no stated length, by a ttl of 0, which it
	// then renews by itself (SelfRenewer) until it is released.
	UntimedLocker interface {
		TakesUntimed() bool
	}

	// An ExtendLocker says whether its leases can be extended. Those of a lock that is none can: Extends asks both.
	ExtendLocker interface {
		Extends() bool
	}

	// A Bootstrapper admits a brand-new, empty set of nodes at once, where it
	// would otherwise sit out a quarantine.
	Bootstrapper interface {
		Bootstrap(ctx context.Context) error
	}

	// A KeyLister names the keys that bear the lease of key on a node: they
	// must be gone when nobody holds it. Fences, node records and tombstones
	// are not among them. None are named by a lock that has no such key.
	KeyLister interface {
		LeaseKeys(key string) []string
	}

	// A LostNotifier is a lease that closes a channel the moment it can no
	// longer be relied on, whatever the network does.
	LostNotifier interface {
		Lost() <-chan struct{}
	}

	// A Renewer is a lease that renews itself once told to, until it is
	// released or lost. observe (may be nil) is called after every round.
	Renewer interface {
		Renew(observe func(Renewal))
	}

	// A SelfRenewer is a Renewer that renews itself from its grant on, told to or not.
	// Renew is called for what it observes.
	SelfRenewer interface {
		Renewer
		RenewsUnasked()
	}
)

// Extends reports whether leases of l can be extended: they can, unless l says that they cannot
// (ExtendLocker).
func Extends(l Locker) bool {
	x, says := l.(ExtendLocker)
	return !says || x.Extends()
}

// A Renewal is one round of automatic renewal.
type Renewal struct {
	Began, Ended time.Time
	ValidUntil   time.Time // after the round; moved only when Err is nil
	Err          error
}
