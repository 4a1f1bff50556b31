package link

import (
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// A conn counts and reports at the client's end of a link.
type conn struct {
	net.Conn
	road   *road
	number uint64
	end    sync.Once // counts its death or closing

	mu       sync.Mutex // of the scanners; reads and writes may be concurrent
	requests scanner
	replies  scanner
	count    uint64     // of requests
	waiting  []TapEvent // requests without a reply, in order
	deaf     bool       // replies no longer answer requests one by one
	pending  []TapEvent // to be reported when the lock is free
}

func newConn(raw net.Conn, r *road, number uint64) *conn {
	c := &conn{Conn: raw, road: r, number: number}
	c.requests = scanner{requests: true, whole: c.request}
	c.replies = scanner{whole: c.reply}
	return c
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.road.received.Add(int64(n))
	c.pass(&c.replies, p[:n])
	c.note(err)
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	c.pass(&c.requests, p)
	n, err := c.Conn.Write(p)
	c.road.sent.Add(int64(n))
	c.note(err)
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.end.Do(c.forget)
	return c.Conn.Close()
}

// note takes an error other than a passed deadline for the connection's death.
func (c *conn) note(err error) {
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	c.end.Do(func() {
		c.forget()
		c.road.died.Add(1)
	})
}

func (c *conn) forget() {
	c.road.mu.Lock()
	defer c.road.mu.Unlock()
	delete(c.road.conns, c)
}

// pass scans bytes on their way and reports what they complete.
func (c *conn) pass(s *scanner, p []byte) {
	c.mu.Lock()
	s.feed(p)
	events := c.pending
	c.pending = nil
	c.mu.Unlock()
	for _, e := range events {
		c.road.tell(e)
	}
}

// request notes a whole command. Without a tap it only keeps the order.
func (c *conn) request(_ byte, nothing bool, words [][]byte) {
	if nothing || len(words) == 0 {
		return
	}
	c.road.requests.Add(1)
	c.count++
	e := TapEvent{Request: c.count}
	if len(c.road.tapped()) > 0 {
		e.Client, e.Node, e.Conn, e.Time = c.road.client, c.road.node, c.number, time.Now()
		e.describe(words, c.requests.digest())
		c.pending = append(c.pending, e)
	}
	switch strings.ToUpper(string(words[0])) {
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR":
		c.deaf = true
	}
	if !c.deaf {
		c.waiting = append(c.waiting, e)
	}
}

// reply matches a whole reply with the oldest command that has none.
func (c *conn) reply(first byte, nothing bool, _ [][]byte) {
	if first == '>' || c.deaf || len(c.waiting) == 0 {
		return
	}
	e := c.waiting[0]
	c.waiting = c.waiting[1:]
	if e.Command == "" {
		return // sent before anybody listened
	}
	e.Reply, e.Time = true, time.Now()
	e.Error, e.Nothing = first == '-' || first == '!', nothing
	c.pending = append(c.pending, e)
}
