package resolve

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"locktorture/faults/link"
	"locktorture/workload/history"
)

// A contender is one client as a Resolver sees it.
type contender struct {
	ttl        time.Duration
	receipters []teller
	begun      int // operations

	mu    sync.Mutex
	owner string                  // its present incarnation
	open  map[int]*operation      // by process
	late  []*operation            // ended without an outcome: commands of theirs may follow
	owed  map[passedBy]*operation // those whose window has ended, by the commands that may be answered yet
}

// An operation is one invocation and the commands that may be part of it. Its
// commands are guarded by the contender's mu until it has ended.
type operation struct {
	contender *contender
	op        history.Op
	index     int // of the invocation
	began     time.Duration
	until     time.Time // commands of a release may come until then; zero: until the next invocation
	sent      [][]command
	mixed     bool // its commands cannot be told from those of another
	gone      bool // whoever sent it sends nothing more
	more      bool // it has sent more than is kept
}

// mostCommands is how many commands of one operation at one node are kept: of
// one with more nothing can be ruled out.
const mostCommands = 64

// A command is one that was sent while an operation was under way, or after it.
type command struct {
	name          string // of a script its digest
	conn, request uint64
	answer        link.Shape // zero while the client has seen none
}

func (c command) unanswered() bool { return c.answer == (link.Shape{}) }

// chores are the commands that keep connections: no lock is taken by them.
var chores = map[string]bool{
	"AUTH": true, "CLIENT": true, "COMMAND": true, "ECHO": true, "HELLO": true, "INFO": true, "PING": true, "QUIT": true,
	"ROLE": true, "SCRIPT": true, "SELECT": true, "TIME": true,
	"SUBSCRIBE": true, "PSUBSCRIBE": true, "SSUBSCRIBE": true, "UNSUBSCRIBE": true, "PUNSUBSCRIBE": true, "SUNSUBSCRIBE": true,
}

// begin takes an invocation, which ends the windows of what came before.
func (c *contender) begin(e *history.Event, nodes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reborn := e.Owner != c.owner && c.owner != ""
	c.owner = e.Owner
	left := c.late[:0]
	for _, o := range c.late {
		o.gone = reborn
		if !reborn && !o.until.IsZero() {
			left = append(left, o)
		} else {
			c.owe(o)
		}
	}
	c.late = left
	if e.Op != history.Acquire && e.Op != history.Extend && e.Op != history.Release {
		return
	}
	o := &operation{contender: c, op: e.Op, index: e.Index, began: e.Time, sent: make([][]command, nodes)}
	for _, other := range c.open {
		other.mixed, o.mixed = true, true
	}
	c.open[e.Process] = o
}

// complete returns the operation that the completion e ends. One of unknown outcome is kept as
// late: what it has sent may still reach a server. The client sends nothing more for it, as
// far as is known.
func (c *contender) complete(e *history.Event) *operation {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.open[e.Process]
	delete(c.open, e.Process)
	if o != nil && e.Kind == history.Info {
		o.gone = true
		if o.op == history.Release {
			o.until = time.Now().Add(2 * c.ttl) // some locks repeat it until the lease has run out
		}
		c.late = append(c.late, o)
	}
	return o
}

// passed notes a command to a node, or its reply.
func (c *contender) passed(node int, e *link.TapEvent) {
	if chores[e.Command] {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late = slices.DeleteFunc(c.late, func(o *operation) bool {
		over := !o.until.IsZero() && e.Time.After(o.until)
		if over {
			c.owe(o)
		}
		return over
	})
	for _, o := range c.open {
		o.passed(node, e)
	}
	for _, o := range c.late {
		o.passed(node, e)
	}
	if by := (passedBy{node, e.Conn, e.Request}); e.Reply && c.owed[by] != nil {
		c.owed[by].passed(node, e)
		delete(c.owed, by)
	}
}

// owe ends an operation's window: from here on only replies to what it sent
// concern it.
func (c *contender) owe(o *operation) {
	if c.owed == nil {
		c.owed = map[passedBy]*operation{}
	}
	for node, sent := range o.sent {
		for _, s := range sent {
			if s.unanswered() {
				c.owed[passedBy{node, s.conn, s.request}] = o
			}
		}
	}
}

// disown forgets an operation of unknown outcome.
func (c *contender) disown(o *operation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late = slices.DeleteFunc(c.late, func(other *operation) bool { return other == o })
	maps.DeleteFunc(c.owed, func(_ passedBy, other *operation) bool { return other == o })
}

// forgetAllBut makes the links forget the commands that belong neither to the given operations
// nor to any that is under way.
func (c *contender) forgetAllBut(unknown []*operation) {
	c.mu.Lock()
	wanted := map[passedBy]bool{}
	for _, o := range slices.Concat(unknown, slices.Collect(maps.Values(c.open))) {
		for node, sent := range o.sent {
			for _, s := range sent {
				wanted[passedBy{node, s.conn, s.request}] = true
			}
		}
	}
	c.mu.Unlock()
	for _, l := range c.receipters {
		l.Keep(func(conn, request uint64) bool { return wanted[passedBy{l.node, conn, request}] })
	}
}

func (o *operation) passed(node int, e *link.TapEvent) {
	if e.Reply {
		for i := range o.sent[node] {
			if c := &o.sent[node][i]; c.conn == e.Conn && c.request == e.Request {
				c.answer = e.Shape
			}
		}
		return
	}
	if len(o.sent[node]) == mostCommands {
		o.more = true
		return
	}
	name := e.Script
	if name == "" {
		name = e.Command
	}
	o.sent[node] = append(o.sent[node], command{name: name, conn: e.Conn, request: e.Request})
}

// only returns the command that was the only one sent, however often and to
// however many nodes; empty when there were others, or none.
func (o *operation) only() (name string) {
	for _, sent := range o.sent {
		for _, c := range sent {
			if name != "" && c.name != name {
				return ""
			}
			name = c.name
		}
	}
	return name
}

// ways counts the nodes that took their part in each way, of those that have
// answered all of it.
func (o *operation) ways() map[way]int {
	all := make(map[way]int, 1)
	for _, sent := range o.sent {
		if last := len(sent) - 1; last >= 0 && !slices.ContainsFunc(sent, command.unanswered) {
			all[way{o.op, path(sent), sent[last].answer}]++
		}
	}
	return all
}

// path names commands in their order.
func path(sent []command) string {
	if len(sent) == 1 {
		return sent[0].name
	}
	var all strings.Builder
	for _, c := range sent {
		all.WriteString(c.name + " ")
	}
	return all.String()
}
