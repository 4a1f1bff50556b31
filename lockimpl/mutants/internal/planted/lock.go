// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl/mutants/internal/planted/keys"
	"locktorture/lockimpl/mutants/internal/planted/node"
	"locktorture/lockimpl/mutants/internal/planted/waiting"
)

// A Lock is one client of one set of nodes. Make it with New, NewFromOptions or
// NewFromURLs. It is safe for concurrent use.
type Lock struct {
	cfg    Config
	bugs   Bugs
	id     string // of this client, unique
	label  string // behind the owner ids: Config.Name
	nodes  []*node.Node
	space  keys.Space // of the names on the servers
	quorum int

	channels     string // prefix of those on which clients are woken
	patience     int64  // Config.Patience in ms
	betweenTries int64  // for so long a writer that tries keeps its place, in ms

	eager     bool                   // every node is asked at once
	contended atomic.Pointer[string] // the key that was contended for last, when it was

	active atomic.Int64 // attempts and releases that somebody waits for

	known   atomic.Int64 // highest token seen, a hint for the next one
	longest atomic.Int64 // longest lease that any node was heard to grant, ns
	serial  atomic.Uint64
	work    node.Tracker       // calls in the background: stragglers, undo, release
	stop    context.CancelFunc // ends background goroutines
	ctx     context.Context    // of the background goroutines

	closing    sync.Mutex // orders spawn and Close
	closed     atomic.Bool
	untilClose context.Context // ends as soon as Close is called
	shut       context.CancelFunc
	wg         sync.WaitGroup

	servers node.Identities // who is behind the nodes

	owners owners
	timers sync.Pool // of *time.Timer that are not running

	randMu sync.Mutex
	rand   *rand.Rand // spreads retries

	stragglers       stragglers
	retries          retries
	late             retries // of what a node may still get after the lease's time
	lines            waiting.Lines
	holdings         holdings
	intents          waiting.Intents
	listeners        []listener
	subscribed       atomic.Int32  // nodes that have been heard
	quorumSubscribed chan struct{} // closed when they are a quorum
	listening        sync.Once
	subscribedBy     time.Time // until when a waiter waits for that
	admission        []admission
	news             news
}

// New returns a client of the masters behind clients, one of each: a single one
// makes a lock on one master, otherwise they are an odd number of independent
// ones. Of each client one connection of its pool, and one subscription, are
// used; it stays open when the lock is closed, and has to outlive it. It connects
// when it is first used.
//
// A client is a *redis.Client: that of a server, or one that Sentinel leads to a
// master (NewFailoverClient), which is one master, and guaranteed what rows 8
// and 8a of the table say. Cluster and Ring clients are refused: they spread keys
// over servers by name, and move them, while a lock has to know what the server
// that it asks has forgotten.
func New(cfg Config, clients ...redis.UniversalClient) (*Lock, error) {
	nodes := make([]node.Config, len(clients))
	for i, c := range clients {
		client, err := masterOf(c)
		if err != nil {
			return nil, misconfigured(fmt.Errorf("client %d: %w", i+1, err))
		}
		nodes[i] = node.Config{Name: nodeName(i, client.Options().Addr), Client: client}
		if slices.ContainsFunc(nodes[:i], func(n node.Config) bool { return n.Client == client }) {
			return nil, misconfigured(fmt.Errorf("client %d appears twice", i+1))
		}
	}
	return newLock(cfg, nodes)
}

// NewFromOptions is New for servers to which the lock makes connections of its
// own: two for each, one for calls and one to be woken. Whatever says how to get
// there is heeded (Dialer, TLSConfig, user, password and providers of them, DB,
// ClientName, Protocol, OnConnect, buffer sizes, Limiter); pools, retries and
// time-outs are the lock's own (Config.NodeTimeout).
func NewFromOptions(cfg Config, options ...*redis.Options) (*Lock, error) {
	nodes := make([]node.Config, len(options))
	for i, opt := range options {
		switch {
		case opt == nil:
			return nil, misconfigured(fmt.Errorf("node %d has no options", i+1))
		case opt.Addr == "" && opt.Dialer == nil:
			return nil, misconfigured(fmt.Errorf("node %d has no address", i+1))
		case opt.Addr != "" && slices.ContainsFunc(options[:i], func(o *redis.Options) bool { return o.Addr == opt.Addr }):
			return nil, misconfigured(fmt.Errorf("node %s appears twice", opt.Addr))
		}
		nodes[i] = node.Config{Name: nodeName(i, opt.Addr), Options: opt}
	}
	return newLock(cfg, nodes)
}

// NewFromURLs is NewFromOptions for URLs as redis.ParseURL takes them:
// rediss://user:password@host:6379/0.
func NewFromURLs(cfg Config, urls ...string) (*Lock, error) {
	options := make([]*redis.Options, len(urls))
	for i, u := range urls {
		opt, err := redis.ParseURL(u)
		if err != nil {
			return nil, misconfigured(fmt.Errorf("node %d: %w", i+1, withoutSecrets(err)))
		}
		options[i] = opt
	}
	return NewFromOptions(cfg, options...)
}

// withoutSecrets is what is wrong with a URL, without the URL: it may hold a password, and
// what cannot be parsed is often a part of one.
func withoutSecrets(err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		return errors.New("not a URL that can be read (it is not shown, since it may hold a password): characters such as %, / and @ within user and password must be percent-encoded")
	}
	return err
}

// masterOf returns the client of one master.
func masterOf(c redis.UniversalClient) (*redis.Client, error) {
	switch c := c.(type) {
	case *redis.Client:
		if c == nil {
			return nil, errors.New("nil")
		}
		return c, nil
	case *redis.ClusterClient:
		return nil, fmt.Errorf("a Redis Cluster: %w", node.ErrClusterMode)
	case *redis.Ring:
		return nil, errors.New("a Ring: another server answers for a key as soon as one is away, and knows nothing of its leases")
	default:
		return nil, fmt.Errorf("%T: it must be a *redis.Client", c)
	}
}

func nodeName(i int, addr string) string {
	if addr == "" {
		return fmt.Sprintf("node %d", i+1)
	}
	return addr
}

// distinct returns the name of node i, or another when an earlier node has that one: all
// clients of Sentinel have the same address, and clients of several databases may.
func (l *Lock) distinct(i int, name string) string {
	if name == "" {
		name = nodeName(i, "")
	}
	for slices.ContainsFunc(l.nodes, func(n *node.Node) bool { return n.Name() == name }) {
		name = fmt.Sprintf("%s (node %d)", name, i+1)
	}
	return name
}

func newLock(cfg Config, nodes []node.Config) (*Lock, error) {
	if err := checkNumber(len(nodes)); err != nil {
		return nil, misconfigured(err)
	}
	cfg = cfg.withDefaults(len(nodes))
	if err := cfg.check(len(nodes)); err != nil {
		return nil, misconfigured(err)
	}
	cfg.RetryMin, cfg.RetryMax = max(cfg.RetryMin, leastPause), max(cfg.RetryMax, leastPause)
	var id [10]byte
	var seed [32]byte
	_, _ = crand.Read(id[:])
	_, _ = crand.Read(seed[:])
	l := &Lock{
		cfg: cfg, quorum: cfg.Quorum,
		id:    hex.EncodeToString(id[:]),
		space: keys.Under(cfg.Prefix), channels: cfg.Prefix + ":wake:",
		patience: cfg.Patience.Milliseconds(), betweenTries: min(cfg.Patience, mostBetweenTries).Milliseconds(),
		quorumSubscribed: make(chan struct{}),
		rand:             rand.New(rand.NewChaCha8(seed)),
	}
	if cfg.Name != "" {
		l.label = labelled + cfg.Name
	}
	l.ctx, l.stop = context.WithCancel(context.Background())
	l.untilClose, l.shut = context.WithCancel(context.Background())
	l.servers.Pause = 2 * cfg.NodeTimeout // a session's round may take two exchanges
	for i, n := range nodes {
		n.Name = l.distinct(i, n.Name)
		n.Timeout, n.Anonymous, n.Part, n.Linger = cfg.NodeTimeout, cfg.AnonymousServers, l.servers.Parter(i), cfg.Linger
		n.Meet = l.undoingLate(i, l.servers.Meeter(i))
		l.nodes = append(l.nodes, node.New(n))
	}
	l.eager = len(nodes) == 1
	l.listeners = make([]listener, len(nodes))
	l.admission = make([]admission, len(nodes))
	return l, nil
}

// undoingLate is meet, and has undone at once what the node was asked to undo in vain, and
// what it may have executed late.
func (l *Lock) undoingLate(i int, meet func(runID string) error) func(runID string) error {
	return func(runID string) error {
		err := meet(runID)
		if err == nil {
			l.hurryRetries(i)
		}
		return err
	}
}

// Acquire makes one attempt to take key for ttl. A refused or failed attempt
// is undone in the background.
func (l *Lock) Acquire(ctx context.Context, key string, ttl time.Duration) (*Lease, error) {
	return l.observed(ctx, key, func() (*lease, error) {
		k, r := l.keys(key), request{ttl: ttl}
		if err := l.admissible(ctx, k, r); err != nil {
			return nil, err
		}
		return l.tryExclusive(ctx, k, r)
	})
}

// AcquireShared makes one attempt to take a reader's lease on key.
func (l *Lock) AcquireShared(ctx context.Context, key string, ttl time.Duration) (*Lease, error) {
	return l.observed(ctx, key, func() (*lease, error) {
		k, r := l.keys(key), request{ttl: ttl, shared: true}
		if err := l.admissible(ctx, k, r); err != nil {
			return nil, err
		}
		return l.attempt(ctx, k, r)
	})
}

// admissible refuses before anything is sent.
func (l *Lock) admissible(ctx context.Context, k *keys.Set, r request) error {
	if ctx == nil {
		return fmt.Errorf("acquire: %w: nil context", ErrMisconfigured)
	}
	if err := l.checkRequest(k.Name, r.ttl); err != nil {
		return err
	}
	if l.closed.Load() {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return notAsked(k.Name, err)
	}
	return nil
}

// Close ends every wait with ErrClosed, waits for what is still under way (attempts,
// which it has given back, and releases) for at most two node timeouts, and closes the
// connections: those of the caller's clients when what is in flight there has ended, after
// one node timeout more at most. Leases that are held run out by themselves.
func (l *Lock) Close() error {
	l.closing.Lock()
	already := l.closed.Swap(true)
	l.closing.Unlock()
	if already {
		return nil
	}
	l.work.Shut()
	l.shut()
	l.lines.Close(ErrClosed)
	l.sendRetries() // for the last time
	l.work.Wait(2 * l.cfg.NodeTimeout)
	l.stop()
	var errs []error
	for _, n := range l.nodes {
		errs = append(errs, n.Close())
	}
	l.wg.Wait()
	return oneLine(errs...)
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

// keys returns the names of all that the lock called name keeps on a node.
func (l *Lock) keys(name string) *keys.Set { return l.space.Of(name) }

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
