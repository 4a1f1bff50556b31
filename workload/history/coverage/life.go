package coverage

import (
	"time"

	"locktorture/workload/history"
	"locktorture/workload/history/fold"
)

// A pending is a client's operation that is under way, and its phase.
type pending struct {
	client string
	phase  Phase
}

// A request is an acquire under way.
type request struct {
	pending
	key   string
	waits bool
}

// A lease is one that somebody holds, as far as its client knows.
type lease struct {
	*fold.Holding
	client  string
	used    bool // something was written, or read by a reader
	due     bool // its renewal
	sent    bool // an extension by hand is under way
	expired bool
	dead    bool // its client has crashed
}

// phases are those that the lease is in.
func (l *lease) phases() []Phase {
	all := []Phase{AcquireReplied}
	switch {
	case l.dead:
		return nil
	case l.used:
		all[0] = InSection
	}
	if l.due && !l.sent {
		all = append(all, RenewalDue)
	}
	return all
}

// steps follows what an event did to a lease.
func (t *Table) steps(e *history.Event, c fold.Change) {
	for _, one := range c.Over {
		t.over(one, e.Time)
	}
	switch c.Step {
	case fold.Granted:
		t.granted(c.Holding, e)
	case fold.Extended:
		if l := t.leases[c.Holding]; l != nil {
			l.due, l.expired = false, false
			t.await(l)
		}
	case fold.Over:
		t.over(c.Holding, e.Time)
	}
}

// granted begins a lease, for which others wait from now on.
func (t *Table) granted(h *fold.Holding, e *history.Event) {
	if ended, known := t.ends[h.Key]; known {
		t.near.gap(h.Since - ended)
	}
	l := &lease{Holding: h, client: clientOf(h.Owner)}
	t.leases[h] = l
	t.await(l)
	t.count(AcquireReplied, l.client)
	for process, a := range t.asking {
		if a.waits && a.key == h.Key && a.phase != Waiting && process != e.Process {
			a.phase = Waiting
			t.count(Waiting, a.client)
		}
	}
}

// over ends a lease, and wakes those who wait for its key.
func (t *Table) over(h *fold.Holding, at time.Duration) {
	if t.leases[h] == nil {
		return
	}
	delete(t.leases, h)
	end := min(at, h.Deadline)
	t.ends[h.Key] = max(t.ends[h.Key], end)
	t.busy[h.Key] = max(t.busy[h.Key], end)
	t.wake(h.Key, at)
}

// wake tells those who wait for a key that nobody holds it.
func (t *Table) wake(key string, now time.Duration) {
	if t.held(key, now) {
		return
	}
	for _, a := range t.asking {
		if a.phase == Waiting && a.key == key {
			a.phase = Woken
			t.count(Woken, a.client)
		}
	}
}

// held reports whether the promise of some lease of a key lasts.
func (t *Table) held(key string, now time.Duration) bool {
	for _, h := range t.who.Of(key) {
		if h.Deadline > now {
			return true
		}
	}
	return false
}

// acquire follows an acquire, from its invocation to its answer.
func (t *Table) acquire(e *history.Event) {
	client := clientOf(e.Owner)
	t.busy[e.Key] = e.Time
	if e.Kind == history.Invoke {
		a := &request{pending: pending{client, AcquireSent}, key: e.Key}
		a.waits = e.Note == history.AskWait || e.Note == history.AskFair
		t.asking[e.Process] = a
		t.count(AcquireSent, client)
		if a.waits && t.held(e.Key, e.Time) {
			a.phase = Waiting
			t.count(Waiting, client)
		}
		return
	}
	a := t.asking[e.Process]
	if a == nil {
		return
	}
	delete(t.asking, e.Process)
	t.state(a.phase, client, e.Kind)
}

// extend follows an extension. One that was not invoked is a round of the lock's
// own renewal, and is told once it is over: it was under way since it began.
func (t *Table) extend(e *history.Event, c fold.Change) {
	client, l := clientOf(e.Owner), t.leaseOf(e)
	if e.Kind == history.Invoke {
		t.acting[e.Process] = pending{client, RenewalSent}
		t.count(RenewalSent, client)
		if l != nil {
			l.sent = true
		}
		return
	}
	if l != nil {
		l.sent = false
	}
	if !c.Invoked {
		t.count(RenewalSent, client)
	}
	delete(t.acting, e.Process)
	if e.Kind != history.Info {
		t.count(RenewalReplied, client)
	}
	t.state(RenewalSent, client, e.Kind)
}

func (t *Table) leaseOf(e *history.Event) *lease {
	return t.leases[t.who.Find(e.Key, e.Owner)]
}

// release follows a release.
func (t *Table) release(e *history.Event) {
	client := clientOf(e.Owner)
	if e.Kind == history.Invoke {
		t.acting[e.Process] = pending{client, ReleaseSent}
		t.count(ReleaseSent, client)
		return
	}
	delete(t.acting, e.Process)
	if e.Kind != history.Info {
		t.count(ReleaseReplied, client)
	}
	t.state(ReleaseSent, client, e.Kind)
}

// access follows what a holder does with the resource.
func (t *Table) access(e *history.Event) {
	l := t.leaseOf(e)
	writes := e.Op == history.Write || e.Mode == history.Shared
	if l == nil || !writes {
		return
	}
	if e.Kind == history.Invoke {
		t.near.validity(l.Deadline - e.Time)
		return
	}
	if !l.used && e.Kind == history.OK {
		l.used = true
		t.count(InSection, l.client)
	}
	t.state(InSection, l.client, e.Kind)
}

// await notes when the next foreseen moment of a lease is due.
func (t *Table) await(l *lease) {
	if !l.due {
		t.expect(t.renewal(l))
	}
	if !l.expired {
		t.expect(l.Deadline)
	}
}

func (t *Table) expect(at time.Duration) {
	if t.next == fold.Never || at < t.next {
		t.next = at
	}
}

// renewal is when the renewal of a lease falls due.
func (t *Table) renewal(l *lease) time.Duration { return l.Renewed + t.header.TTL/3 }

// foreseen goes through the leases of which a moment has come.
func (t *Table) foreseen(now time.Duration) {
	t.next = fold.Never
	for _, l := range t.leases {
		if !l.due && t.renewal(l) <= now {
			l.due = true
			if !l.dead && !l.sent {
				t.count(RenewalDue, l.client)
			}
		}
		if !l.expired && l.Deadline <= now {
			l.expired = true
			if !l.dead {
				t.count(Expiry, l.client)
				t.state(Expiry, l.client, 0)
			}
			t.wake(l.Key, now)
		}
		t.await(l)
	}
}
