package redlock

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"time"

	"locktorture/lockimpl"
	"locktorture/lockimpl/redlock/internal/node"
	"locktorture/lockimpl/redlock/internal/script"
)

// tombstoneTTL bounds how long a late copy of an acquire is refused by the node
// that saw its release.
func (l *Lock) tombstoneTTL() time.Duration { return l.cfg.MaxTTL + 2*l.cfg.NodeTimeout }

// A release gives back what an attempt has on the nodes. It goes to each node
// on which something of the attempt's can be, behind the acquire that took it;
// nodes that were not asked yet will not be.
type release struct {
	a       *attempt
	expires time.Time // by then every key of the attempt has gone by itself
	calls   []releaseCall
	one     [1]releaseCall // of a single node

	mu      sync.Mutex
	deleted int
	free    int // nodes that have said that they are free of the attempt
	open    int // calls without an answer yet
	unsure  int // calls that a node did not answer, or whose first copy it may have heeded
	ended   bool
	done    chan struct{} // closed when it has ended, when somebody waits for that
}

type releaseCall struct {
	*release
	i                 int
	gossip, tombstone int64     // as they are sent
	err               error     // why the node has not confirmed; guarded by release.mu
	since             time.Time // it was not answered
	failed            bool      // the script failed there, perhaps behind the deletion
	counted, doubtful bool      // whether it was answered, and by nobody who knows; guarded by release.mu
}

// undo ends the attempt and sends its release. It does not wait.
func (a *attempt) undo() *release {
	r := a.releaseBy(a.start.Add(a.r.ttl))
	for _, n := range a.l.nodes {
		n.Flush()
	}
	return r
}

// releaseBy puts the release to every node that was asked; a Flush sends it.
func (a *attempt) releaseBy(expires time.Time) *release {
	a.mu.Lock()
	a.over.Store(true)
	asked := a.asked
	a.mu.Unlock()
	n := bits.OnesCount64(asked)
	r := &release{a: a, expires: expires, open: n}
	if r.calls = r.one[:0]; n > 1 {
		r.calls = make([]releaseCall, 0, n)
	}
	a.l.work.Add(n)
	for i := range a.byNode {
		if asked>>i&1 == 1 {
			r.calls = append(r.calls, releaseCall{release: r, i: i})
			a.l.nodes[i].Put(&r.calls[len(r.calls)-1])
		}
	}
	return r
}

// Encode implements node.Call.
func (c *releaseCall) Encode(w *node.Writer) {
	a, k := c.a, c.a.k
	a.mu.Lock()
	c.gossip, c.tombstone = c.news(), 0
	if s := &a.byNode[c.i]; s.doubt {
		c.tombstone = a.l.tombstoneTTL().Milliseconds()
	}
	a.mu.Unlock()
	if c.gossip == 0 && c.tombstone == 0 && !a.r.shared {
		w.Script(script.GiveBack, 4)
		w.Refs(&k.Lock, &k.Flag, &k.Tickets, &k.Beats, &a.owner, &a.l.channels)
		w.IntRef(&a.l.patience)
		return
	}
	if a.r.shared {
		w.Script(script.ReleaseShared, 8)
	} else {
		w.Script(script.Release, 7)
	}
	w.Refs(&k.Node, &k.Lock, &k.Fence)
	w.Str(k.Tombstone + a.owner)
	w.Refs(&k.Flag, &k.Tickets, &k.Beats)
	if a.r.shared {
		w.Ref(&k.Readers)
	}
	w.Ref(&a.owner)
	w.IntRef(&c.gossip)
	w.IntRef(&c.tombstone)
	w.Ref(&a.l.channels)
	w.IntRef(&a.l.patience)
}

// news is the highest value that this attempt saw, when the node may not
// have it.
func (c *releaseCall) news() int64 {
	s := &c.a.byNode[c.i]
	if c.a.l.cfg.NoGossip || s.top >= c.a.seen {
		return 0
	}
	return c.a.seen
}

// Wanted implements node.Call: a node that refused outright, or was never
// asked, has nothing to give back; it is told the token all the same when the
// attempt had succeeded.
func (c *releaseCall) Wanted(bool) bool {
	a := c.a
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.absent(&a.byNode[c.i]) || a.err == nil && c.news() > 0
}

// owed reports whether the node may have something to give back. What it is told beside that it
// is told once: no guarantee rests on it, and a node that is away would be sent every release
// until its lease had ended.
func (c *releaseCall) owed() bool {
	a := c.a
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.absent(&a.byNode[c.i])
}

// errHeededBefore is why a node that answered has not confirmed a release.
var errHeededBefore = errors.New("it was sent the release twice, and may have heeded it the first time")

// Answer implements node.Call.
func (c *releaseCall) Answer(r node.Reply) {
	l := c.a.l
	deleted := r.Outcome == node.Executed && r.Int() == 1
	answered := r.Outcome == node.Executed || !c.owed()
	c.failed = c.failed || node.IsOfScript(r.Err)
	if !answered && c.since.IsZero() {
		c.since = time.Now()
	}
	if !answered && c.a.again(c.i, c, c.since, c.expires) {
		c.count(false, true, l.of(c.i, r.Err))
		return
	}
	byACopy := r.Outcome == node.Executed && !deleted && (r.Doubt || c.failed) // which may have been heeded the time before
	var err error
	switch {
	case !answered:
		err = l.of(c.i, r.Err)
	case byACopy:
		err = l.of(c.i, errHeededBefore)
	}
	c.count(deleted, !answered || byACopy, err)
	if r.Outcome == node.Executed && c.tombstone > 0 { // the acquire may have come late, before this
		c.a.leaveBehind(c.i)
	}
	l.work.Add(-1)
}

// reasons returns why nodes have not confirmed. mu is held.
func (r *release) reasons() (all []error) {
	for i := range r.calls {
		c := &r.calls[i]
		if c.err == nil {
			c.err = c.a.l.of(c.i, c.a.l.nodes[c.i].Trouble())
		}
		all = append(all, c.err)
	}
	return all
}

// count notes the answer of a node, in place of an earlier one, and ends the release when
// it is complete on a quorum, or when every node has answered once.
func (c *releaseCall) count(deleted, unsure bool, err error) {
	r := c.release
	r.mu.Lock()
	defer r.mu.Unlock()
	c.err = err
	switch { // what is sent again is one call still
	case !c.counted:
		c.counted = true
		r.open--
	case c.doubtful:
		r.unsure--
	}
	c.doubtful = unsure
	if deleted {
		r.deleted++
	}
	if unsure {
		r.unsure++
	} else {
		r.free++
	}
	if !r.ended && (r.deleted >= r.a.l.quorum || r.open <= 0) {
		r.ended = true
		if r.done != nil {
			close(r.done)
		}
	}
}

// awaitEnd waits until the release has ended, or returns why it waits no longer.
// It waits for one NodeTimeout after by.
func (r *release) awaitEnd(ctx context.Context, by time.Time) error {
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		return nil
	}
	if r.done == nil {
		r.done = make(chan struct{})
	}
	done := r.done
	r.mu.Unlock()
	return r.a.l.within(ctx, time.Until(by.Add(r.a.l.cfg.NodeTimeout)), done)
}

// wait returns nil when a quorum is free of the lease, and no more nodes have
// lost it than a quorum can spare; ErrLost when it cannot have been on a quorum
// until now; and another error when too few nodes answered. Nodes that were not
// asked for the lock are free of it. It is asked since by.
func (r *release) wait(ctx context.Context, by time.Time) error {
	cause := r.awaitEnd(ctx, by)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch quorum := r.a.l.quorum; {
	case r.deleted >= quorum:
		return nil
	case r.deleted+max(r.open, 0)+r.unsure < quorum:
		return fmt.Errorf("release %s: %w", shown(r.a.k.Name), lockimpl.ErrLost)
	case r.deleted > 0 && len(r.a.byNode)-len(r.calls)+r.free >= quorum:
		return nil
	default:
		return fmt.Errorf("release %s: %d of %d nodes confirmed: %w",
			shown(r.a.k.Name), r.deleted, quorum, joined(ErrUnknown, append(r.reasons(), cause)...))
	}
}
