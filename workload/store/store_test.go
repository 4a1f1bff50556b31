package store_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"locktorture/workload/store"
)

// bigFence is the largest token that the format allows: one below 2^53.
const bigFence = 1<<53 - 1

func TestWritePolicies(t *testing.T) {
	type step struct {
		mode     string
		fence    uint64
		accepted bool
	}
	tests := []struct {
		name   string
		policy store.Policy
		steps  []step
	}{
		{"newer tokens pass", store.Fenced, []step{{"x", 1, true}, {"x", 2, true}}},
		{"the holder's own token passes again", store.Fenced, []step{{"x", 7, true}, {"x", 7, true}}},
		{"an older token is rejected", store.Fenced, []step{{"x", 2, true}, {"x", 1, false}, {"x", 2, true}}},
		{"a write without a token passes until one was seen", store.Fenced, []step{{"x", 0, true}, {"x", 1, true}, {"x", 0, false}}},
		{"tokens are compared as numbers", store.Fenced, []step{{"x", 9, true}, {"x", 10, true}, {"x", 9, false}}},
		{"large tokens are exact", store.Fenced, []step{{"x", bigFence - 1, true}, {"x", bigFence, true}, {"x", bigFence - 1, false}}},
		{"unfenced accepts all", store.Unfenced, []step{{"x", 2, true}, {"x", 1, true}, {"x", 0, true}}},
		{"the planted bug accepts an older token", store.AcceptOlder, []step{{"x", 2, true}, {"x", 1, true}}},
		{"readers do not reject each other", store.Fenced, []step{{"r", 5, true}, {"r", 3, true}, {"r", 5, true}}},
		{"a later reader fences off a stale writer", store.Fenced, []step{{"x", 1, true}, {"r", 2, true}, {"x", 1, false}}},
		{"a later writer fences off a stale reader", store.Fenced, []step{{"r", 1, true}, {"x", 2, true}, {"r", 1, false}}},
		{"a rejected write leaves no mark", store.Fenced, []step{{"r", 5, true}, {"x", 4, false}, {"r", 3, true}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, dial dialer) {
				c := open(t, dial, test.policy)
				for i, s := range test.steps {
					ack, err := c.Write(t.Context(), store.Write{Key: "k", Owner: "a", Fence: s.fence, Value: fmt.Sprint(i), Mode: s.mode})
					if got := err == nil; got != s.accepted || err != nil && !errors.Is(err, store.ErrStale) {
						t.Fatalf("step %d: %v, want accepted %v", i, err, s.accepted)
					}
					if ack.Seq != uint64(i+1) {
						t.Fatalf("step %d: seq %d", i, ack.Seq)
					}
				}
			})
		})
	}
}

// TestReadFencesOff holds that a fenced store rejects the write of an older holder behind the
// read of a newer one, which would find it between what it read and what it writes.
func TestReadFencesOff(t *testing.T) {
	for _, c := range []struct {
		policy   store.Policy
		reads    uint64
		accepted bool
	}{{store.Fenced, 8, false}, {store.Fenced, 7, true}, {store.Fenced, 6, true}, {store.Fenced, 0, true}, {store.Unfenced, 8, true}, {store.AcceptOlder, 8, true}} {
		onBoth(t, func(t *testing.T, dial dialer) {
			s := open(t, dial, c.policy)
			put := func(fence uint64, value string) error {
				_, err := s.Write(t.Context(), store.Write{Key: "k", Owner: "a", Fence: fence, Value: value})
				return err
			}
			if row, err := s.Read(t.Context(), "k", 5); err != nil || row != (store.Row{}) {
				t.Fatalf("before the first write: %v, %v", row, err)
			}
			if err := put(7, "first"); err != nil {
				t.Fatal(err)
			}
			if row, err := s.Read(t.Context(), "k", c.reads); err != nil || row != (store.Row{Value: "first", Seq: 1}) {
				t.Fatalf("read %v, %v", row, err)
			}
			if err := put(7, "late"); (err == nil) != c.accepted || err != nil && !errors.Is(err, store.ErrStale) {
				t.Errorf("%s, read by token %d: a write by token 7 gets %v", c.policy, c.reads, err)
			}
			if err := put(8, "next"); err != nil {
				t.Errorf("%s: the reader's own write: %v", c.policy, err)
			}
		})
	}
}

func TestRowsAndLog(t *testing.T) {
	onBoth(t, func(t *testing.T, dial dialer) {
		c := open(t, dial, store.Fenced)
		writes := []store.Write{
			{Key: "k0", Owner: "a", Fence: 2, Value: "a 1", Mode: "x"},
			{Key: "k1", Owner: "b", Fence: 1, Value: "b1", Mode: "x"},
			{Key: "k0", Owner: "b", Fence: 1, Value: "b2", Base: 1, Mode: "x"}, // stale
			{Key: "k0", Owner: "c", Fence: 3, Value: "c1", Mode: "r"},
			{Key: "k0", Owner: "a", Fence: bigFence, Value: "", Base: 1, Mode: "x"},
		}
		over := []uint64{0, 0, 1, 1, 1}
		var want []store.Entry
		for i, w := range writes {
			ack, err := c.Write(t.Context(), w)
			if err != nil && !errors.Is(err, store.ErrStale) {
				t.Fatal(err)
			}
			if wantAck := (store.Ack{Seq: uint64(i + 1), Over: over[i]}); ack != wantAck {
				t.Errorf("ack %+v, want %+v", ack, wantAck)
			}
			want = append(want, store.Entry{Seq: ack.Seq, Accepted: err == nil, Write: w})
		}
		if got := audit(t, c); !reflect.DeepEqual(got, want) {
			t.Errorf("audit\n%+v\nwant\n%+v", got, want)
		}
		rows := map[string]store.Row{"k0": {Value: "", Seq: 5}, "k1": {Value: "b1", Seq: 2}, "k2": {}}
		for key, want := range rows {
			if got, err := c.Read(t.Context(), key, 0); err != nil || got != want {
				t.Errorf("row %s: %+v, %v, want %+v", key, got, err, want)
			}
		}
	})
}

// Many clients at once: numbers without gaps, and no token accepted after a
// newer one on its row.
func TestConcurrentWrites(t *testing.T) {
	onBoth(t, func(t *testing.T, dial dialer) {
		const clients, each = 8, 200 // more than one chunk of the log
		c := open(t, dial, store.Fenced)
		var wg sync.WaitGroup
		for client := range clients {
			wg.Go(func() {
				for i := range each {
					w := store.Write{Key: "k", Owner: fmt.Sprint(client), Fence: uint64(i), Value: fmt.Sprintf("%d/%d", client, i)}
					if _, err := c.Write(t.Context(), w); err != nil && !errors.Is(err, store.ErrStale) {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		entries := audit(t, c)
		if len(entries) != clients*each {
			t.Fatalf("%d entries, want %d", len(entries), clients*each)
		}
		highest := uint64(0)
		for _, e := range entries {
			if e.Accepted != (e.Fence >= highest) {
				t.Fatalf("%+v after token %d", e, highest)
			}
			highest = max(highest, e.Fence)
		}
	})
}

func TestAuditOfEmptyStore(t *testing.T) {
	onBoth(t, func(t *testing.T, dial dialer) {
		if got := audit(t, open(t, dial, store.Fenced)); got != nil {
			t.Errorf("audit %+v", got)
		}
	})
}

// A dial that fails is a definite no, and happens once.
func TestUnreached(t *testing.T) {
	dials := 0
	c := open(t, func(context.Context) (net.Conn, error) {
		dials++
		return nil, errors.New("refused")
	}, store.Fenced)
	if _, err := c.Write(t.Context(), store.Write{Key: "k"}); !errors.Is(err, store.ErrUnreached) {
		t.Errorf("write: %v", err)
	}
	if dials != 1 {
		t.Errorf("%d dials for one write", dials)
	}
}

// A lost reply is neither a yes nor a no, and the request is not sent again.
func TestLostReplyIsUnknown(t *testing.T) {
	onBoth(t, func(t *testing.T, dial dialer) {
		c := open(t, dial, store.Fenced)
		if _, err := c.Write(t.Context(), store.Write{Key: "k", Value: "first"}); err != nil {
			t.Fatal(err)
		}
		deaf := open(t, func(ctx context.Context) (net.Conn, error) {
			conn, err := dial(ctx)
			return &deafConn{Conn: conn}, err
		}, store.Fenced)
		_, err := deaf.Write(t.Context(), store.Write{Key: "k", Value: "second"})
		if err == nil || errors.Is(err, store.ErrStale) || errors.Is(err, store.ErrUnreached) {
			t.Errorf("write whose reply is lost: %v", err)
		}
		if got := audit(t, c); len(got) != 2 || got[1].Value != "second" {
			t.Errorf("audit %+v", got)
		}
	})
}

// A deafConn loses the reply to its second request, the first being the
// connection's greeting.
type deafConn struct {
	net.Conn
	reads int
}

func (c *deafConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.reads++; c.reads > 1 {
		return 0, net.ErrClosed
	}
	return n, err
}

func open(t *testing.T, dial dialer, p store.Policy) *store.Client {
	t.Helper()
	c := store.Open(dial, p)
	t.Cleanup(func() { c.Close() })
	return c
}

func raw(t *testing.T, dial dialer) *redis.Client {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }})
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

func audit(t *testing.T, c *store.Client) (entries []store.Entry) {
	t.Helper()
	err := c.Audit(t.Context(), func(e store.Entry) error {
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}
