// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package node

import (
	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl/mutants/internal/planted/script"
)

// Bugs says what is wrong with the way to a server.
type Bugs struct {
	// Unordered gives every call a goroutine and a connection of its own, as
	// pooled clients do: calls then overtake each other.
	Unordered bool

	// Scripts replaces scripts by faulty ones.
	Scripts map[*script.Script]*script.Script
}

// Plant sets the bugs, before the node is first used.
func (n *Node) Plant(bugs Bugs) { n.bugs = bugs }

// alone sends one call past the queue, on a connection of its own.
func (n *Node) alone(c Call) {
	e := entry{call: c}
	if !c.Wanted(false) {
		e.fail(errUnwanted, NotExecuted)
		return
	}
	cn, err := n.open(n.ctx)
	if err != nil {
		e.fail(err, NotExecuted)
		return
	}
	defer cn.close()
	w := Writer{run: &cn.run, record: new(record), eval: true, faulty: n.bugs.Scripts}
	c.Encode(&w)
	cmd := w.command(n.ctx)
	if err := cn.exec(n.ctx, []redis.Cmder{cmd}); err != nil {
		e.fail(err, ExecutionUnknown)
		return
	}
	c.Answer(replyOf(cmd))
}
