package faults

import (
	"context"
	"sync"
	"time"

	"locktorture/faults/link"
	"locktorture/workload/history"
)

// awaitMidway waits until such an operation is between two of its steps: at the second one, which a fault of links meets
// then, and for any other fault at the answer to the first, so that the client has not sent anything behind that. The
// occasion's release lets the client go on.
func (n *nemesis) awaitMidway(ctx context.Context, s Step, op history.Op) (Occasion, error) {
	_, onLinks := s.Fault.(LinkFault)
	m := midway{first: map[askedNode]firstStep{}}
	underway := func(client string) (key string, began time.Duration, is bool) {
		return n.t.Watch.Underway(op, func(owner string) bool { return n.t.ClientName(owner) == client })
	}
	return n.awaitPassing(ctx, s.When, "", func(e link.TapEvent) (string, bool) {
		if e.Reply {
			first, is := m.isAnswer(e)
			if !is || onLinks {
				return "", false
			}
			key, began, is := underway(e.Client)
			return key, is && began == first.began // else it is late, or somebody else has the key by now
		}
		if !isStep(e) {
			return "", false
		}
		key, began, is := underway(e.Client)
		return key, is && m.isSecond(e, began) && onLinks
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

// isAnswer returns the first step to which a reply is the answer, if it is, and notes it: what was sent before, in the same
// pipeline, is no second one. An error is no answer: it was no step, and the next request is the first.
func (m *midway) isAnswer(reply link.TapEvent) (f firstStep, is bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := askedNode{reply.Client, reply.Node}
	f, is = m.first[at]
	if !is || f.request.Conn != reply.Conn || f.request.Request != reply.Request {
		return f, false
	}
	if reply.Error {
		delete(m.first, at)
		return f, false
	}
	f.answered = true
	m.first[at] = f
	return f, true
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
