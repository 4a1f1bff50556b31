package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// auditChunk is how many entries one request of Audit asks for.
const auditChunk = 1000

// An Entry is one line of the audit log.
type Entry struct {
	Seq      uint64
	Accepted bool
	Write
}

// Audit reads the whole log in sequence order, calling each for every entry.
// It holds one chunk in memory at a time, and checks that no number is
// missing.
func (c *Client) Audit(ctx context.Context, each func(Entry) error) error {
	next := uint64(1)
	for {
		chunk, err := c.rdb.XRangeN(ctx, c.keys.log, fmt.Sprintf("%d-0", next), "+", auditChunk).Result()
		if err != nil {
			return fmt.Errorf("read audit log from %d: %w", next, err)
		}
		for i := range chunk {
			e, err := entry(&chunk[i])
			if err != nil {
				return fmt.Errorf("parse audit entry %s: %w", chunk[i].ID, err)
			}
			if e.Seq != next {
				return fmt.Errorf("read audit log: entry %d follows entry %d", e.Seq, next-1)
			}
			if err := each(e); err != nil {
				return err
			}
			next++
		}
		if len(chunk) < auditChunk {
			return c.auditComplete(ctx, next-1)
		}
	}
}

// auditComplete compares the last entry read with the store's own count: a log
// that lost its tail is no ground truth.
func (c *Client) auditComplete(ctx context.Context, last uint64) error {
	count, err := c.rdb.Get(ctx, c.keys.seq).Uint64()
	switch {
	case errors.Is(err, redis.Nil) && last == 0:
		return nil
	case err != nil:
		return fmt.Errorf("read last sequence number: %w", err)
	case count > last:
		return fmt.Errorf("read audit log: it ends at %d, the store counted %d", last, count)
	}
	return nil
}

func entry(m *redis.XMessage) (e Entry, err error) {
	number, _, _ := strings.Cut(m.ID, "-")
	if e.Seq, err = strconv.ParseUint(number, 10, 64); err != nil {
		return e, err
	}
	text := func(field string) string {
		s, _ := m.Values[field].(string)
		return s
	}
	if e.Fence, err = strconv.ParseUint(text("f"), 10, 64); err != nil {
		return e, err
	}
	if e.Base, err = strconv.ParseUint(text("b"), 10, 64); err != nil {
		return e, err
	}
	e.Key, e.Owner, e.Value, e.Mode = text("k"), text("o"), text("v"), text("m")
	e.Accepted = text("a") == "1"
	return e, nil
}
