package faults

import (
	"context"
	"slices"
	"sync"
	"time"

	"locktorture/faults/link"
)

// greetings are the commands by which a connection is set up. They are no part of what a client asks.
var greetings = []string{"AUTH", "CLIENT", "HELLO", "PING", "SELECT"}

// awaitMidway waits for Midway. The occasion's release lets the client go on.
func (n *nemesis) awaitMidway(ctx context.Context, when Trigger) (Occasion, error) {
	m := midway{sent: map[askedNode]int{}}
	return n.awaitPassing(ctx, when, "", func(e link.TapEvent) bool {
		if e.Reply || slices.Contains(greetings, e.Command) {
			return false
		}
		began, asks := n.asksForAFreeKey(e.Client)
		return asks && m.isSecond(askedNode{e.Client, e.Node, began})
	})
}

// An askedNode is a node in an acquire of a client's, which is known by when it began.
type askedNode struct {
	client, node string
	began        time.Duration
}

// midway counts requests. It is safe for concurrent use.
type midway struct {
	mu   sync.Mutex
	sent map[askedNode]int
}

// isSecond counts one more request, and reports whether it is the second one.
func (m *midway) isSecond(a askedNode) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent[a]++
	return m.sent[a] == 2
}

// asksForAFreeKey reports whether a client has asked for a key that nobody holds, as far as is known, and since when.
func (n *nemesis) asksForAFreeKey(client string) (since time.Duration, asks bool) {
	for _, w := range n.t.Watch.Waiters() {
		if n.t.ClientName(w.Owner) == client {
			return w.Since, len(n.t.Watch.Holder(w.Key)) == 0
		}
	}
	return 0, false
}
