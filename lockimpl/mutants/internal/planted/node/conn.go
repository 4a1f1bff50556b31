// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locktorture/lockimpl/mutants/internal/planted/script"
)

// anonymous stands for the identity of a server that does not tell who it is.
const anonymous = "none"

// conn is one connection of a go-redis client.
type conn struct {
	*redis.Conn
	hooked *redis.Conn // leads to the above through the hooks of the caller's client; else nil
	under  *divert     // innermost of those hooks
	client *redis.Client
	wire   *wire  // what it runs on, nil when the client is the caller's
	run    string // identity of the server at the other end
	proc   string // run id of its process, "" when it does not tell
	asked  int64  // when it was last asked who it is (ns of clock)
	wrote  int64  // of the wire, before the pipeline in flight
	served bool   // a pipeline was answered, and not refused by a server that only reads
	alarm  *time.Timer

	turning sync.Mutex
	turn    int64 // counts the pipelines that callers have carried
}

// A wire counts what is written to it.
type wire struct {
	net.Conn
	wrote atomic.Int64
}

// Write implements net.Conn.
func (w *wire) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	w.wrote.Add(int64(n))
	return n, err
}

// unsent reports whether nothing of the last pipeline was written.
func (c *conn) unsent() bool { return c.wire != nil && c.wire.wrote.Load() == c.wrote }

// abort makes whoever uses the connection fail.
func (c *conn) abort() {
	if c.wire != nil {
		_ = c.wire.Close()
	}
}

// endTurn ends the turn of a caller that has carried a pipeline.
func (c *conn) endTurn() {
	c.turning.Lock()
	defer c.turning.Unlock()
	c.turn++
}

// abortTurn is abort, unless the turn of that number has ended.
func (c *conn) abortTurn(turn int64) {
	c.turning.Lock()
	defer c.turning.Unlock()
	if c.turn == turn {
		c.abort()
	}
}

// guard returns a timer that aborts after d, for who relies on it though the
// connection may not heed deadlines.
func (c *conn) guard(d time.Duration) *time.Timer {
	if c.alarm == nil {
		c.alarm = time.AfterFunc(d, c.abort)
	} else {
		c.alarm.Reset(d)
	}
	return c.alarm
}

// close gives the connection up: nobody uses it.
func (c *conn) close() {
	_ = c.Conn.Close() // an ephemeral one: the pool does not get it back
	if c.hooked != nil {
		_ = c.hooked.Close()
	}
	if c.wire != nil {
		_ = c.client.Close()
		_ = c.wire.Close()
	}
}

// exec sends cmds as one pipeline. An error is one of the connection, after
// which nothing is known of any of them; what the server answered as an error
// is in its command.
func (c *conn) exec(ctx context.Context, cmds []redis.Cmder) (broken error) {
	defer recoverProtocol(&broken)
	if c.wire != nil {
		c.wrote = c.wire.wrote.Load()
	}
	if c.hooked == nil {
		return breaks(execOn(ctx, c.Conn, cmds), cmds)
	}
	c.under.sent = false
	if err := execOn(ctx, c.hooked, cmds); !c.under.sent {
		return errors.Join(errNotSent, err)
	}
	return c.under.broken
}

// breaks returns err, with which a pipeline ended, unless the server answered it as that
// of a command.
func breaks(err error, cmds []redis.Cmder) error {
	if err == nil {
		return nil
	}
	refused := false
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && !isServerError(err) {
			return err
		} else if err != nil {
			refused = true
		}
	}
	if !refused { // the server refused the connection, not a command
		return err
	}
	return nil
}

var errNotSent = errors.New("a hook of the client did not send the pipeline")

func execOn(ctx context.Context, c *redis.Conn, cmds []redis.Cmder) error {
	p := c.Pipeline()
	_ = p.BatchProcess(ctx, cmds...)
	_, err := p.Exec(ctx)
	return err
}

// divert is the innermost hook of a connection that has the hooks of a caller's
// client, and sends what comes through them on another one: a client cannot be
// given other retries and time-outs without losing its hooks. A pipeline goes out once,
// however often a hook calls for it, and what became of the connection is noted before a
// hook may hide it.
type divert struct {
	to          *redis.Conn
	sent        bool
	err, broken error // of the pipeline and of the connection, once it was sent
}

func (*divert) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (*divert) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (d *divert) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if !d.sent {
			d.sent = true
			d.err = execOn(ctx, d.to, cmds)
			d.broken = breaks(d.err, cmds)
		}
		return d.err
	}
}

var errProtocol = errors.New("not a reply of the Redis protocol")

// recoverProtocol turns the panic of go-redis at a reply with an impossible length into an
// error of the connection.
func recoverProtocol(broken *error) {
	switch p := recover().(type) {
	case nil:
	case runtime.Error:
		*broken = fmt.Errorf("%w: %v", errProtocol, p)
	default:
		panic(p)
	}
}

// dial makes a connection, and a client for it alone: go-redis would go on to
// dial behind the back of who waits, and again.
func (n *Node) dial(ctx context.Context) (*redis.Client, *wire, error) {
	opt := *n.cfg.Options
	opt.DialTimeout = n.cfg.Timeout
	network, dial, security := opt.Network, opt.Dialer, opt.TLSConfig
	switch {
	case network != "":
	case strings.HasPrefix(opt.Addr, "/"):
		network = "unix"
	default:
		network = "tcp"
	}
	if dial == nil {
		opt.TLSConfig = nil
		dial = redis.NewDialer(&opt)
	} else {
		security = nil // the dialer's own affair
	}
	raw, err := dial(ctx, network, opt.Addr)
	if err == nil && security != nil {
		raw, err = secure(ctx, raw, named(security, opt.Addr), n.cfg.Timeout)
	}
	if err != nil {
		return nil, nil, err
	}
	w := &wire{Conn: raw}
	return redis.NewClient(n.options(w)), w, nil
}

// options returns the caller's with settings under which nothing is retried
// out of sight and every wait is bounded.
func (n *Node) options(c net.Conn) *redis.Options {
	opt := *n.cfg.Options
	opt.Dialer, opt.DialerRetries = once(c), 1
	opt.OnConnect = n.login(opt.OnConnect)
	opt.MaxRetries, opt.ContextTimeoutEnabled = -1, true
	opt.DialTimeout, opt.ReadTimeout, opt.WriteTimeout = n.cfg.Timeout, n.cfg.Timeout, n.cfg.Timeout
	opt.PoolSize, opt.MinIdleConns, opt.MaxActiveConns, opt.PipelinePoolSize = 4, 0, 0, -1
	opt.ConnMaxIdleTime, opt.ConnMaxLifetime = -1, 0
	opt.ClientSideCache, opt.ClientSideCacheConfig = nil, nil
	opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	if opt.Protocol == 0 {
		opt.Protocol = 2 // the lock has no use for what 3 adds
	}
	return &opt
}

// login names a user that has no password, which go-redis would pass over.
func (n *Node) login(then func(context.Context, *redis.Conn) error) func(context.Context, *redis.Conn) error {
	opt := n.cfg.Options
	if opt.Username == "" || opt.Password != "" || opt.CredentialsProvider != nil ||
		opt.CredentialsProviderContext != nil || opt.StreamingCredentialsProvider != nil {
		return then
	}
	return func(ctx context.Context, c *redis.Conn) error {
		err := c.AuthACL(ctx, opt.Username, "").Err()
		if err == nil && then != nil {
			err = then(ctx, c)
		}
		return err
	}
}

var errSpent = errors.New("connection was used")

// once returns a dialer that yields c and nothing after it.
func once(c net.Conn) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		if c == nil {
			return nil, errSpent
		}
		out := c
		c = nil
		return out, nil
	}
}

// reach returns a client that has one connection to give, or the caller's.
func (n *Node) reach(ctx context.Context) (*redis.Client, *wire, error) {
	if n.client != nil {
		return n.client, nil, nil
	}
	return n.dial(ctx)
}

// probeAfter is when a connection of the caller's client is late.
const probeAfter = 50 * time.Millisecond

// probe dials beside the caller's client, once, when that has had no connection
// for a while: it dials several times before it tells an error, and those who do
// not wait for so long would not learn it. The probe passes over the hooks of the
// client, and what it finds is only told, until the call of end.
func (n *Node) probe(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var telling sync.Mutex
	n.wg.Go(func() {
		late := time.NewTimer(probeAfter)
		defer late.Stop()
		select {
		case <-ctx.Done():
			return
		case <-late.C:
		}
		dialled := make(chan error, 1)
		go func() { // it ends with the dialer, of which that of go-redis does not heed ctx over TLS
			opt := n.cfg.Client.Options()
			c, err := opt.Dialer(ctx, opt.Network, opt.Addr)
			if err == nil {
				_ = c.Close()
			}
			dialled <- err
		}()
		var err error
		select {
		case <-ctx.Done():
			return
		case err = <-dialled:
		}
		telling.Lock()
		defer telling.Unlock()
		if err != nil && ctx.Err() == nil {
			n.trouble.Store(&err)
		}
	})
	return func() {
		telling.Lock()
		defer telling.Unlock()
		cancel()
	}
}

// Connecting takes several exchanges, each of which has the node's timeout: on a long way
// they would not all fit into one. No call waits for so long: who asks while the connection
// is made is told so at its own end, and a later call finds it made.
const (
	exchanges = 8             // TCP, two of TLS, HELLO, AUTH, what the options set up, and two for who the server is
	handshake = 2             // of TLS
	secured   = 1 + handshake // of TCP and TLS
)

var errConnecting = errors.New("the connection is still being made: it takes several round trips, each of which may take Config.NodeTimeout, and the server may be silent")

// open connects and learns who is at the other end. It hands the server the
// scripts in the same round trip, before any command is sent.
func (n *Node) open(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, exchanges*n.cfg.Timeout)
	defer cancel()
	n.trouble.CompareAndSwap(nil, &errConnecting)
	client, w, err := n.reach(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: client.EphemeralConn(), client: client, wire: w}
	if n.cfg.Client != nil {
		c.hooked, c.under = n.cfg.Client.EphemeralConn(), &divert{to: c.Conn}
		c.hooked.AddHook(c.under)
	}
	stop := context.AfterFunc(n.ctx, c.abort)
	defer stop()
	if n.cfg.Client != nil {
		defer n.probe(ctx)()
	}
	err = c.greet(ctx, n.cfg)
	if err == nil && n.cfg.Meet != nil {
		err = n.cfg.Meet(c.proc)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// errTurnedAway is of a server that ends a connection before anything was asked of it. What
// it says then is often lost: it does not wait until that is read.
var errTurnedAway = errors.New("the server closed the connection before it answered: it may have as many clients as it takes (maxclients), be in protected mode, or expect TLS")

// isClosed reports whether the other end has closed the connection.
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

func (c *conn) greet(ctx context.Context, cfg Config) error {
	server, replication := redis.NewCmd(ctx, "info", "server"), redis.NewCmd(ctx, "info", "replication")
	memory := redis.NewCmd(ctx, "info", "memory")
	cmds := []redis.Cmder{server, replication, memory}
	asked := len(cmds) // behind it come the scripts: a server that does not know SCRIPT is sent their text
	for _, s := range script.All() {
		cmds = append(cmds, redis.NewCmd(ctx, "script", "load", s.Source))
	}
	c.asked = clock()
	switch err := c.exec(ctx, cmds); {
	case err == nil:
	case isClosed(err):
		return fmt.Errorf("%w: %w", errTurnedAway, err)
	default:
		return serverError(err)
	}
	for i, cmd := range cmds {
		se, ok := serverError(cmd.Err()).(ServerError)
		switch {
		case !ok:
		case i < asked && se.hides():
			if !cfg.Anonymous {
				return fmt.Errorf("%w: %w", ErrAnonymous, se)
			}
		case se.isTransient(), IsPermanent(se) && !se.isUnknownCommand():
			return se // it refuses, or cannot tell yet who it is
		}
	}
	info, _ := server.Text()
	history, _ := replication.Text()
	room, _ := memory.Text()
	c.proc = script.Field(info, "run_id")
	c.run = identity(c.proc, history)
	switch {
	case script.Field(info, "redis_mode") == "cluster", script.Field(info, "server_mode") == "cluster":
		return ErrClusterMode
	case c.run == anonymous && !cfg.Anonymous:
		return ErrAnonymous
	case evicts(room):
		return ErrEvicting
	}
	return nil
}

// evicts reports whether a server, by its INFO, drops keys where memory is short.
func evicts(info string) bool {
	limit, policy := script.Field(info, "maxmemory"), script.Field(info, "maxmemory_policy")
	return limit != "" && limit != "0" && policy != "" && policy != "noeviction"
}

// identity names a server in one life of its data: its process and the history
// that it replicates, which a promotion changes and a restart too. A process
// alone may be demoted, get the older data of the server that it then follows,
// and be promoted again.
func identity(process, replication string) string {
	history := script.Field(replication, "master_replid")
	if process == "" || history == "" {
		return anonymous
	}
	return process[:min(len(process), 20)] + history[:min(len(history), 20)]
}

// identityCheckInterval is how long a check holds: a server takes longer to be demoted, to
// load another's data and to be promoted. What is sent in that time, and then
// held up by the network for the rest of it, is not noticed.
const identityCheckInterval = time.Millisecond

// recognise returns an error where the answer to a check, in front of a pipeline, is not that
// of the server that was greeted. It may have been demoted, have loaded another's data, and been
// promoted again, without an end of the connection; or its user may not ask any more.
func (c *conn) recognise(check *redis.Cmd, cfg Config) error {
	text, err := check.Text()
	switch se, ok := serverError(err).(ServerError); {
	case err == nil && identity(c.proc, text) != c.run:
		return errReplaced
	case ok && se.hides() && !cfg.Anonymous:
		return fmt.Errorf("%w: %w", ErrAnonymous, se)
	}
	return nil
}
