// Package store is the resource that the locks guard: rows in a Redis of its
// own, whose one script checks the fencing token of every write, numbers it,
// and appends it to an audit log that is read after the run as ground truth.
package store

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// ErrStale reports a write that the store rejected, definitely, for its token.
var ErrStale = errors.New("write rejected: its fencing token is older than one already seen")

// A Client is one client's road to the store.
type Client struct {
	rdb    *redis.Client
	fenced bool
}

// A Write is one write to a row.
type Write struct {
	Key   string
	Owner string
	Fence uint64 // 0 when the lock issues none
	Value string // unique in the run
	Base  uint64 // seq of the version that it was computed from
	Mode  string // "x", or "r" for a read that leaves its mark
}

// A Row is what a read sees.
type Row struct {
	Value string
	Seq   uint64 // of the write that made it; 0 before the first
}

// An Entry is one line of the audit log.
type Entry struct {
	Seq      uint64
	Accepted bool
	Write
}

// New makes a client. A fenced one has stale tokens rejected; an unfenced one
// has every write accepted, and logged all the same.
func New(rdb *redis.Client, fenced bool) *Client { return &Client{rdb: rdb, fenced: fenced} }

// Write writes, and returns the sequence number that the store gave to it,
// also with ErrStale. Any other error leaves the outcome unknown.
func (c *Client) Write(ctx context.Context, w Write) (seq uint64, err error) {
	panic("replace me")
}

// Read reads a row.
func (c *Client) Read(ctx context.Context, key string) (Row, error) { panic("replace me") }

// Audit reads the whole log in sequence order, calling each for every entry.
func (c *Client) Audit(ctx context.Context, each func(Entry) error) error { panic("replace me") }
