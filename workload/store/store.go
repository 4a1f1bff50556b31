// Package store is the resource that the locks guard: rows in a Redis of its
// own. One script checks the fencing token of every write, numbers it, and appends
// it to an audit log that is read after the run as ground truth; another notes the
// token of who reads what it is going to change.
package store

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Definite answers of Write. After any other error its outcome is unknown.
var (
	// ErrStale reports a write that the store rejected for its token.
	ErrStale = errors.New("write rejected: its fencing token is older than one already seen")

	// ErrUnreached reports that no connection could be had: nothing was sent.
	ErrUnreached = errors.New("store not reached")
)

// Prefix begins the names of all keys of a store.
const Prefix = prefix

// A Policy says what the store does with a write whose token is older than one
// that it has seen.
type Policy string

// The policies. A lock that issues no tokens runs with Unfenced: its writes
// bear token 0, which is older than every other.
const (
	Fenced      Policy = "fenced"       // rejects it
	Unfenced    Policy = "unfenced"     // accepts every write, and logs it all the same
	AcceptOlder Policy = "accept-older" // a planted bug: keeps the marks, and accepts it
)

// The prefix keeps the store's keys apart from whatever else a shared Redis holds.
const prefix = "locktorture:"

// keys are the names of a store's keys.
type keys struct{ prefix, seq, log, row string }

func keysUnder(before string) keys {
	p := before + prefix
	return keys{prefix: p, seq: p + "seq", log: p + "log", row: p + "row:"}
}

//go:embed write.lua
var writeSource string

//go:embed read.lua
var readSource string

var writeScript, readScript = redis.NewScript(writeSource), redis.NewScript(readSource)

// A Client is how one client reaches the store. It is safe for concurrent use.
type Client struct {
	rdb    *redis.Client
	policy Policy
	keys   keys
}

// A Write is one write to a row.
type Write struct {
	Key   string
	Owner string
	Fence uint64 // 0 when the lock issues none
	Value string // unique in the run
	Base  uint64 // seq of the version that it was computed from
	Mode  string // "x" (or empty), or "r" for a read that leaves its mark and no value
}

// An Ack is the store's answer to a write.
type Ack struct {
	Seq  uint64 // given to the write, accepted or rejected
	Over uint64 // of the version that the row had before it; 0 for none
}

// A Row is what a read sees.
type Row struct {
	Value string
	Seq   uint64 // of the write that made it; 0 before the first
}

// New makes a client of an existing connection pool, whose owner has seen to it
// that no command is sent twice (see Open).
func New(rdb *redis.Client, p Policy) *Client {
	return &Client{rdb: rdb, policy: p, keys: keysUnder("")}
}

// Under returns the client, from here on of another store: the one all of whose
// keys begin with before.
func (c *Client) Under(before string) *Client {
	c.keys = keysUnder(before)
	return c
}

// Open makes a client whose every connection comes from dial. It does not
// connect.
func Open(dial func(ctx context.Context) (net.Conn, error), p Policy) *Client {
	return New(Connect(dial), p)
}

// Connect makes a connection pool to the Redis that dial leads to, with the
// options of a store's. It does not connect.
func Connect(dial func(ctx context.Context) (net.Conn, error)) *redis.Client {
	return redis.NewClient(options(dial))
}

// options are those without which one recorded request could be several: no
// retries, deadlines from the context, nothing sent but what is asked for. The
// pool is large because go-redis fails fast once as many dials failed as it
// has places.
func options(dial func(ctx context.Context) (net.Conn, error)) *redis.Options {
	return &redis.Options{
		Addr: "store",
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := dial(ctx)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrUnreached, err)
			}
			return conn, nil
		},
		MaxRetries:               -1,
		DialerRetries:            1,
		ContextTimeoutEnabled:    true,
		DisableIdentity:          true,
		PoolSize:                 128,
		Protocol:                 2,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// Close closes the connections.
func (c *Client) Close() error { return c.rdb.Close() }

// Policy returns what the store does with older tokens.
func (c *Client) Policy() Policy { return c.policy }

// Write writes. The Ack is also given with ErrStale.
func (c *Client) Write(ctx context.Context, w Write) (Ack, error) {
	mode := w.Mode
	if mode == "" {
		mode = "x"
	}
	reply, err := writeScript.Run(ctx, c.rdb, []string{c.keys.row + w.Key, c.keys.seq, c.keys.log},
		string(c.policy), mode, strconv.FormatUint(w.Fence, 10), w.Key, w.Owner, w.Value,
		strconv.FormatUint(w.Base, 10)).Uint64Slice()
	if err != nil {
		return Ack{}, fmt.Errorf("write %s: %w", w.Key, err)
	}
	if len(reply) != 3 {
		return Ack{}, fmt.Errorf("write %s: reply has %d fields, want 3", w.Key, len(reply))
	}
	ack := Ack{Seq: reply[1], Over: reply[2]}
	if reply[0] == 0 {
		return ack, ErrStale
	}
	return ack, nil
}

// Read reads a row for who holds its lease, by a token or none (0). A fenced store rejects
// older tokens from then on.
func (c *Client) Read(ctx context.Context, key string, fence uint64) (Row, error) {
	fields, err := readScript.Run(ctx, c.rdb, []string{c.keys.row + key}, string(c.policy), strconv.FormatUint(fence, 10)).Slice()
	if err != nil {
		return Row{}, fmt.Errorf("read %s: %w", key, err)
	}
	if len(fields) != 2 {
		return Row{}, fmt.Errorf("read %s: reply has %d fields, want 2", key, len(fields))
	}
	value, written := fields[0].(string)
	if !written {
		return Row{}, nil
	}
	text, _ := fields[1].(string)
	seq, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return Row{}, fmt.Errorf("read %s: parse sequence number: %w", key, err)
	}
	return Row{Value: value, Seq: seq}, nil
}
