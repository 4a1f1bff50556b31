package faults

import (
	"context"
	"sync"
	"time"

	"locktorture/faults/link"
	"locktorture/workload/history"
)

// awaitMidway waits for the second step of such an operation. The occasion's release lets the client go on.
func (n *nemesis) awaitMidway(ctx context.Context, when Trigger, op history.Op) (Occasion, error) {
	m := midway{first: map[askedNode]firstStep{}}
	return n.awaitPassing(ctx, when, "", func(e link.TapEvent) bool {
		if e.Reply {
			m.answered(e)
			return false
		}
		if !isStep(e) {
			return false
		}
		began, underway := n.t.Watch.Underway(op, func(owner string) bool { return n.t.ClientName(owner) == e.Client })
		return underway && m.isSecond(e, began)
	})
}

// isStep reports whether a command may be a step of a lock: it is about a key. Those that greet, load scripts, look at
// the server, listen, or begin and end a transaction are not.
func isStep(e link.TapEvent) bool {
	switch e.Command {
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE", "READONLY", "READWRITE", "ASKING":
		return false
	}
	return e.Key != ""
}

// An askedNode is a node that a client asks.
type askedNode struct{ client, node string }

// A firstStep is the first request to a node in an operation, which began at that time.
type firstStep struct {
	began    time.Duration
	request  link.TapEvent
	answered bool
}

// midway knows the first step of the operation that each client has under way, by nodes. It is safe for
// concurrent use.
type midway struct {
	mu    sync.Mutex
	first map[askedNode]firstStep
}

// answered notes that a first step was answered: what was sent before, in the same pipeline, is no second one.
func (m *midway) answered(reply link.TapEvent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := askedNode{reply.Client, reply.Node}
	if f, ok := m.first[at]; ok && f.request.Conn == reply.Conn && f.request.Request == reply.Request {
		f.answered = true
		m.first[at] = f
	}
}

// isSecond reports whether a request is the second step of an operation, and keeps it where it is the first. The first one
// sent again, as by a client that polls or whose script was not known, is neither.
func (m *midway) isSecond(e link.TapEvent, began time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := askedNode{e.Client, e.Node}
	f, ok := m.first[at]
	if !ok || f.began != began {
		m.first[at] = firstStep{began: began, request: e}
		return false
	}
	if repeats(f.request, e) {
		if f.answered {
			m.first[at] = firstStep{began: began, request: e}
		}
		return false
	}
	return f.answered
}

// repeats reports whether b asks the same as a.
func repeats(a, b link.TapEvent) bool {
	return a.Key == b.Key && a.Script == b.Script && (a.Script != "" || a.Command == b.Command)
}
