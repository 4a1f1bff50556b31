package redlock_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/redlock"
)

// dead is a node that fails the test when it is dialled.
func dead(t *testing.T, addr string) lockimpl.Node {
	return lockimpl.Node{Addr: addr, Dial: func(context.Context, string, string) (net.Conn, error) {
		t.Error("dialled for a request that must be refused")
		return nil, net.ErrClosed
	}}
}

func TestBadSetsOfNodesAreRefused(t *testing.T) {
	a, b, c := dead(t, "a"), dead(t, "b"), dead(t, "c")
	for want, bad := range map[string]struct {
		nodes []lockimpl.Node
		cfg   redlock.Config
	}{
		"no nodes":      {},
		"even number":   {nodes: []lockimpl.Node{a, b}},
		"appears twice": {nodes: []lockimpl.Node{a, b, a}},
		"no address":    {nodes: []lockimpl.Node{{}}},
		"must be a maj": {nodes: []lockimpl.Node{a, b, c}, cfg: redlock.Config{Quorum: 1}},
		"quorum 4 of 3": {nodes: []lockimpl.Node{a, b, c}, cfg: redlock.Config{Quorum: 4}},
		"max ttl":       {nodes: []lockimpl.Node{a}, cfg: redlock.Config{MaxTTL: time.Microsecond}},
		"not a range":   {nodes: []lockimpl.Node{a}, cfg: redlock.Config{RetryMin: 2, RetryMax: 1}},
		"patience 1ms":  {nodes: []lockimpl.Node{a}, cfg: redlock.Config{Patience: time.Millisecond}},
		"is negative":   {nodes: []lockimpl.Node{a}, cfg: redlock.Config{NodeTimeout: -1}},
		"below 100µs":   {nodes: []lockimpl.Node{a}, cfg: redlock.Config{NodeTimeout: 500}}, // milliseconds were meant
	} {
		if _, err := redlock.NewLocker(bad.nodes, bad.cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
}

func TestBadRequestsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	l, err := redlock.NewLocker([]lockimpl.Node{dead(t, "a")}, redlock.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var none context.Context
	for name, request := range map[string]func() error{
		"empty key":        func() error { _, err := l.Acquire(t.Context(), "", time.Second); return err },
		"ttl of zero":      func() error { _, err := l.Acquire(t.Context(), "k", 0); return err },
		"ttl too short":    func() error { _, err := l.AcquireShared(t.Context(), "k", time.Microsecond); return err },
		"ttl too long":     func() error { _, err := l.AcquireFair(t.Context(), "k", time.Hour); return err },
		"nil context":      func() error { _, err := l.AcquireWait(none, "k", time.Second); return err },
		"ended context":    func() error { _, err := l.Acquire(ended, "k", time.Second); return err },
		"empty owner":      func() error { _, err := l.AcquireAs(t.Context(), "", "k", time.Second); return err },
		"no keys":          func() error { _, err := l.AcquireAll(t.Context(), nil, time.Second); return err },
		"a key twice":      func() error { _, err := l.AcquireAll(t.Context(), []string{"k", "k"}, time.Second); return err },
		"nil to bootstrap": func() error { return l.Bootstrap(none) },
	} {
		if request() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
