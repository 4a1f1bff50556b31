// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/mutants/internal/planted/node"
)

// A Lock is one client of one set of nodes. Make it with New.
type Lock struct {
	cfg     Config
	bugs    Bugs
	id      string // of this client, unique
	nodes   []*node.Node
	nodeKey string
	quorum  int

	eager   bool                   // every node is asked at once
	crowded atomic.Pointer[string] // the key that was contended for last, when it was

	active atomic.Int64 // attempts and releases that somebody waits for

	known   atomic.Int64 // highest token seen, a hint for the next one
	longest atomic.Int64 // longest lease that any node was heard to grant, ns
	serial  atomic.Uint64
	work    tracker            // calls in the background: stragglers, undo, release
	stop    context.CancelFunc // ends background goroutines
	ctx     context.Context    // of the background goroutines

	closing sync.Mutex // orders spawn and Close
	closed  atomic.Bool
	wg      sync.WaitGroup

	servers servers // who is behind the nodes

	randMu sync.Mutex
	rand   *rand.Rand // spreads retries

	stragglers stragglers
	retries    retries
	lines      lines
	holdings   holdings
	intents    intents
	listeners  []listener
	ears       atomic.Int32  // nodes that have been heard
	hears      chan struct{} // closed when they are a quorum
	admission  []admission
}

// New returns a client of nodes. It connects when it is first used; a single
// node makes a lock on one master.
func New(nodes []lockimpl.Node, cfg Config) (*Lock, error) {
	if err := checkNodes(nodes); err != nil {
		return nil, fmt.Errorf("new lock: %w", err)
	}
	cfg = cfg.withDefaults(len(nodes))
	if err := cfg.check(len(nodes)); err != nil {
		return nil, fmt.Errorf("new lock: %w", err)
	}
	var id [10]byte
	var seed [32]byte
	_, _ = crand.Read(id[:])
	_, _ = crand.Read(seed[:])
	l := &Lock{
		cfg: cfg, quorum: cfg.Quorum,
		id:      hex.EncodeToString(id[:]),
		nodeKey: cfg.Prefix + ":node",
		hears:   make(chan struct{}),
		rand:    rand.New(rand.NewChaCha8(seed)),
	}
	l.ctx, l.stop = context.WithCancel(context.Background())
	for i, n := range nodes {
		l.nodes = append(l.nodes, node.New(node.Config{
			Name: n.Name, Addr: n.Addr, Dial: n.Dial,
			Timeout: cfg.NodeTimeout, Username: cfg.Username, Password: cfg.Password,
			Direct: len(nodes) == 1, Anonymous: cfg.AnonymousServers, Meet: l.servers.meeter(i),
		}))
	}
	l.eager = len(nodes) == 1
	l.listeners = make([]listener, len(nodes))
	l.admission = make([]admission, len(nodes))
	return l, nil
}

// NewFactory returns a Factory of locks that share cfg.
func NewFactory(cfg Config) lockimpl.Factory {
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) { return New(nodes, cfg) }
}

// Acquire makes one attempt to take key for ttl. A refused or failed attempt
// is undone in the background.
func (l *Lock) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	k, r := l.keys(key), request{ttl: ttl}
	if err := l.admissible(ctx, k, r); err != nil {
		return nil, err
	}
	return leaseOr(l.tryExclusive(ctx, k, r))
}

// AcquireShared makes one attempt to take a reader's lease on key.
func (l *Lock) AcquireShared(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	k, r := l.keys(key), request{ttl: ttl, shared: true}
	if err := l.admissible(ctx, k, r); err != nil {
		return nil, err
	}
	return leaseOr(l.attempt(ctx, k, r))
}

// leaseOr keeps a nil *lease from becoming a Lease that is not nil.
func leaseOr(got *lease, err error) (lockimpl.Lease, error) {
	if err != nil {
		return nil, err
	}
	return got, nil
}

var errClosed = errors.New("lock closed")

// admissible refuses before anything is sent.
func (l *Lock) admissible(ctx context.Context, k *keySet, r request) error {
	if ctx == nil {
		return errors.New("acquire: nil context")
	}
	if err := l.checkRequest(k.name, r.ttl); err != nil {
		return err
	}
	if l.closed.Load() {
		return errClosed
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("acquire %s: %w: %w", k.name, lockimpl.ErrHeld, err)
	}
	return nil
}

// Close waits for what is still under way (undo, release), for at most two
// node timeouts, and closes the connections.
func (l *Lock) Close() error {
	l.closing.Lock()
	already := l.closed.Swap(true)
	l.closing.Unlock()
	if already {
		return nil
	}
	l.work.wait(2 * l.cfg.NodeTimeout)
	l.stop()
	var errs []error
	for _, n := range l.nodes {
		errs = append(errs, n.Close())
	}
	l.wg.Wait()
	return errors.Join(errs...)
}

// spawn runs f in the background, unless the lock is closed. Close waits.
func (l *Lock) spawn(f func()) bool {
	l.closing.Lock()
	defer l.closing.Unlock()
	if l.closed.Load() {
		return false
	}
	l.wg.Go(f)
	return true
}

// learn remembers a token as a hint for later ones.
func (l *Lock) learn(token int64) {
	for {
		known := l.known.Load()
		if token <= known || l.known.CompareAndSwap(known, token) {
			return
		}
	}
}

// hint is what the next token is proposed to exceed: the highest one known,
// or this client's clock.
func (l *Lock) hint() int64 {
	if l.cfg.NoProposals {
		return 0
	}
	return max(l.known.Load(), time.Now().UnixMicro())
}
