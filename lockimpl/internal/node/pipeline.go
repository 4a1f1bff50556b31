package node

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// loop sends batch after batch until the node is closed.
func (n *Node) loop() {
	var batch []entry
	for {
		batch = n.take(batch)
		if batch == nil {
			return
		}
		n.exchange(batch)
	}
}

// take waits for calls and takes up to maxBatch of them. used is the batch
// before, whose memory is used again.
func (n *Node) take(used []entry) []entry {
	for {
		n.mu.Lock()
		if n.closed {
			n.mu.Unlock()
			return nil
		}
		if k := min(len(n.queue), maxBatch); k > 0 {
			batch := append(used[:0], n.queue[:k]...)
			rest := copy(n.queue, n.queue[k:])
			clear(n.queue[rest:])
			n.queue = n.queue[:rest]
			n.mu.Unlock()
			return batch
		}
		n.mu.Unlock()
		<-n.wake
	}
}

// exchange sends a batch and answers every call in it, or puts it back.
func (n *Node) exchange(batch []entry) {
	if err := n.connect(); err != nil {
		for _, e := range batch {
			e.call.Answer(Reply{Err: err, Fate: e.fate(FateNone), Doubt: e.resent})
		}
		return
	}
	pipe := n.client.Pipeline()
	ctx := context.Background()
	cmds := make([]*redis.Cmd, len(batch))
	for i, e := range batch {
		if !e.call.Wanted() {
			continue
		}
		cmds[i] = n.command(ctx, e)
		_ = pipe.Process(ctx, cmds[i])
	}
	n.sent.Store(false)
	if pipe.Len() > 0 {
		_, _ = pipe.Exec(ctx) // every command carries its own error
	}
	n.answer(batch, cmds)
}

// alone sends one call past the queue.
func (n *Node) alone(c Call) {
	ctx := context.Background()
	cmd := n.command(ctx, entry{call: c})
	if err := n.client.Process(ctx, cmd); isNoScript(err) {
		cmd = n.command(ctx, entry{call: c, eval: true})
		_ = n.client.Process(ctx, cmd) // cmd carries its error
	}
	switch err := cmd.Err(); {
	case err == nil || err == redis.Nil:
		c.Answer(Reply{Val: cmd.Val(), Fate: FateDone})
	case isServerError(err):
		c.Answer(Reply{Err: err, Fate: FateNone})
	default:
		c.Answer(Reply{Err: err, Fate: FateUnknown})
	}
}

func (n *Node) command(ctx context.Context, e entry) *redis.Cmd {
	s, args := e.call.Command()
	full := make([]any, 0, len(args)+2)
	if e.eval {
		full = append(full, "eval", s.Source)
	} else {
		full = append(full, "evalsha", s.SHA)
	}
	return redis.NewCmd(ctx, append(full, args...)...)
}

func (n *Node) answer(batch []entry, cmds []*redis.Cmd) {
	var again []entry
	for i, e := range batch {
		if cmds[i] == nil {
			e.call.Answer(Reply{Err: errUnwanted, Fate: e.fate(FateNone), Doubt: e.resent})
			continue
		}
		val, err := cmds[i].Result()
		switch {
		case err == nil || err == redis.Nil:
			e.call.Answer(Reply{Val: val, Fate: FateDone, Doubt: e.resent})
		case isNoScript(err) && !e.eval:
			e.eval = true
			again = append(again, e)
		case isServerError(err):
			e.call.Answer(Reply{Err: err, Fate: e.fate(FateNone), Doubt: e.resent})
		case !n.sent.Load():
			e.call.Answer(Reply{Err: err, Fate: e.fate(FateNone), Doubt: e.resent})
		case e.resent || isTimeout(err):
			e.call.Answer(Reply{Err: err, Fate: FateUnknown, Doubt: true})
		default: // the connection broke: every script is safe to send twice
			e.resent = true
			again = append(again, e)
		}
	}
	n.putBack(again)
}

// putBack queues entries before everything that came after them.
func (n *Node) putBack(again []entry) {
	if len(again) == 0 {
		return
	}
	n.mu.Lock()
	n.queue = append(again, n.queue...)
	n.mu.Unlock()
	n.nudge()
}

// Do sends c and waits for its answer or for ctx.
func Do(ctx context.Context, n *Node, c *Simple) (Reply, error) {
	c.done = make(chan Reply, 1)
	n.Send(c)
	select {
	case r := <-c.done:
		return r, r.Err
	case <-ctx.Done():
		return Reply{Err: ctx.Err(), Fate: FateUnknown}, ctx.Err()
	}
}
