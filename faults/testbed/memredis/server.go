package memredis

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Server is one Redis. Its methods are safe for concurrent use; commands are
// executed one at a time.
type Server struct {
	mu       sync.Mutex
	now      func() time.Time
	keys     map[string]*entry
	scripts  map[string]string // text by digest
	lua      *engine           // nil before the first script
	sessions []*Session        // in the order in which they came
	run      string            // run id of the process
	history  string            // replication id
	readOnly bool
	script   bool // a script runs
	before   func(args []string) (failure string)
}

// New returns a server without data, whose time of day is now's. run and
// history are the ids of its process and of its data, as INFO tells them.
func New(now func() time.Time, run, history string) *Server {
	return &Server{now: now, keys: map[string]*entry{}, scripts: map[string]string{}, run: run, history: history}
}

// Restart ends every session and lets the server go on as another process, with
// its data or without. Scripts are lost either way.
func (s *Server) Restart(run, history string, empty bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run, s.history, s.readOnly = run, history, false
	clear(s.scripts)
	if empty {
		clear(s.keys)
	}
}

// Hangup ends every session, and returns how many there were.
func (s *Server) Hangup() int {
	s.mu.Lock()
	all := s.sessions
	s.sessions = nil
	s.mu.Unlock()
	for _, c := range all {
		c.close()
	}
	return len(all)
}

// Close gives back what the server uses. Nothing may be asked of it any more.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lua.release()
	s.lua = nil
}

// Keys returns the names of all keys, sorted.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names()
}

// Look returns what is stored under a key, on one line, and how long it is still there:
// -1 for ever, -2 not at all. A hash is its fields, sorted, a sorted set its members.
func (s *Server) Look(key string) (left time.Duration, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.find(key)
	switch {
	case e == nil:
		return -2, ""
	case e.expires == 0:
		left = -1
	default:
		left = time.Duration(max(e.expires-s.ms(), 0)) * time.Millisecond
	}
	switch e.kind {
	case kindHash:
		var fields []string
		for name, value := range e.hash {
			fields = append(fields, name+"="+value)
		}
		slices.Sort(fields)
		return left, strings.Join(fields, " ")
	case kindZSet:
		var names []string
		for _, m := range e.sorted() {
			names = append(names, m.name)
		}
		return left, strings.Join(names, " ")
	}
	return left, e.text
}

// Dump returns all that the server stores as text that is the same for the same data:
// keys with their kinds, contents and the time left to them, to a multiple of grain.
// The ids of its process and data are in it, scripts are not.
func (s *Server) Dump(grain time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", s.run, s.history)
	for _, key := range s.names() {
		e := s.keys[key]
		left := int64(-1)
		if e.expires > 0 {
			left = (e.expires - s.ms()) / max(grain.Milliseconds(), 1)
		}
		fmt.Fprintf(&b, "%q %s %d %q %q %v\n", key, e.kind, left, e.text, e.hash, e.stream)
		for _, m := range e.sorted() {
			fmt.Fprintf(&b, " %q %v\n", m.name, m.score)
		}
	}
	return b.String()
}

// A Session is one connection to a server.
type Session struct {
	server   *Server
	in       parser
	reply    func([]byte)
	hangup   func()
	channels map[string]bool

	mu    sync.Mutex
	ended bool
}

// Accept begins a session: reply is called with what the server sends, hangup
// when it closes the connection. Neither may call the server.
func (s *Server) Accept(reply func([]byte), hangup func()) *Session {
	c := &Session{server: s, reply: reply, hangup: hangup}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = append(s.sessions, c)
	return c
}

// Request takes what has come from the client, in pieces of any size.
func (c *Session) Request(data []byte) {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.over() {
		return
	}
	if len(c.in.rest) > 0 {
		data = append(c.in.rest, data...)
	}
	c.in.rest = data
	defer func() { c.in.rest = bytes.Clone(c.in.rest) }() // a command in part, while data is the caller's
	var out []byte
	for {
		args, broken := c.in.next()
		if broken {
			out = encode(out, failure("ERR Protocol error: expected a command"))
			defer c.close()
			break
		}
		if args == nil {
			break
		}
		if len(args) > 0 {
			out = s.serve(c, args, out)
		}
	}
	if len(out) > 0 {
		c.reply(out)
	}
}

// Gone says that the client has closed the connection.
func (c *Session) Gone() {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	s.sessions = slices.DeleteFunc(s.sessions, func(x *Session) bool { return x == c })
}

func (c *Session) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (c *Session) close() {
	c.mu.Lock()
	before := c.ended
	c.ended = true
	c.mu.Unlock()
	if !before {
		c.hangup()
	}
}

// serve executes one command of a session and appends what it is answered.
func (s *Server) serve(c *Session, args []string, out []byte) []byte {
	if s.before != nil {
		if told := s.before(args); told != "" {
			return encode(out, failure(told))
		}
	}
	switch name := strings.ToUpper(args[0]); name {
	case "SUBSCRIBE", "UNSUBSCRIBE":
		return s.subscribe(c, name, args[1:], out)
	case "QUIT":
		defer c.close()
		return encode(out, ok)
	case "PING":
		if len(c.channels) > 0 {
			return encode(out, []any{"pong", strings.Join(args[1:], "")})
		}
	default:
		if len(c.channels) > 0 {
			return encode(out, failure(fmt.Sprintf("ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context", strings.ToLower(name))))
		}
	}
	return encode(out, s.execute(args))
}

func (s *Server) subscribe(c *Session, name string, channels []string, out []byte) []byte {
	if len(channels) == 0 && name == "SUBSCRIBE" {
		return encode(out, wrongNumber("subscribe"))
	}
	if len(channels) == 0 {
		for ch := range c.channels {
			channels = append(channels, ch)
		}
		slices.Sort(channels)
		if len(channels) == 0 {
			return encode(out, []any{"unsubscribe", nil, int64(0)})
		}
	}
	for _, ch := range channels {
		if name == "UNSUBSCRIBE" {
			delete(c.channels, ch)
		} else {
			if c.channels == nil {
				c.channels = map[string]bool{}
			}
			c.channels[ch] = true
		}
		out = encode(out, []any{strings.ToLower(name), ch, int64(len(c.channels))})
	}
	return out
}

// publish tells every subscriber, in the order in which they connected.
func (s *Server) publish(channel, message string) (heard int64) {
	for _, c := range s.sessions {
		if c.channels[channel] {
			c.reply(encode(nil, []any{"message", channel, message}))
			heard++
		}
	}
	return heard
}

// A command is executed on its arguments, its name first.
type command struct {
	arity  int // as Redis counts: with the name; −n is n or more
	writes bool
	do     func(s *Server, args []string) any
}

// execute runs one command.
func (s *Server) execute(args []string) any {
	c, known := commands[strings.ToUpper(args[0])]
	switch {
	case !known:
		return unknown(args)
	case c.arity > 0 && len(args) != c.arity, c.arity < 0 && len(args) < -c.arity:
		return wrongNumber(strings.ToLower(args[0]))
	case c.writes && s.readOnly:
		return failure("READONLY You can't write against a read only replica.")
	}
	return c.do(s, args)
}

func wrongNumber(name string) failure {
	return failure("ERR wrong number of arguments for '" + name + "' command")
}

func unknown(args []string) failure {
	var b strings.Builder
	for _, a := range args[1:] {
		fmt.Fprintf(&b, "'%.128s' ", a)
	}
	return failure(fmt.Sprintf("ERR unknown command '%.128s', with args beginning with: %s", args[0], b.String()))
}
