package checker

import (
	"strings"

	"locktorture/workload/history"
)

// client takes an event of a process of the workload.
func (j *Judge) client(e *history.Event) {
	slot := j.procs.at(e.Process)
	switch {
	case e.Op == history.Lost:
		j.lost(e, j.holder(slot, e))
	case (slot.open == nil || slot.open.what != history.Extend) && isRenewal(e):
		j.renewed(e)
	case e.Kind == history.Invoke:
		j.invoke(e, slot)
	case slot.open != nil:
		o := slot.open
		slot.open = nil
		j.complete(e, o)
		if e.Kind == history.Info {
			j.procs.retire(e.Process)
		}
	}
}

// isRenewal reports whether e tells of a whole round of automatic renewal.
func isRenewal(e *history.Event) bool {
	return e.Op == history.Extend && e.Kind != history.Invoke && e.HasAll(history.HasBegan) &&
		(e.Kind != history.OK || e.HasAll(history.HasValidUntil))
}

// key finds or makes a key.
func (j *Judge) key(name string) *key {
	if j.near != nil && j.near.name == name {
		return j.near
	}
	k := j.keys[name]
	if k == nil {
		name = strings.Clone(name)
		k = &key{name: name, holders: make(map[string]*holder)}
		j.keys[name] = k
	}
	j.near = k
	return k
}

func (k *key) holder(owner string) *holder {
	h := k.holders[owner]
	if h == nil {
		owner = strings.Clone(owner)
		h = &holder{key: k, owner: owner}
		k.holders[owner] = h
	}
	return h
}

// holder finds who e speaks of. A process mostly stays with one key and owner
// for a few operations; the owners of keys in use are found in a table.
func (j *Judge) holder(slot *proc, e *history.Event) *holder {
	if h := slot.holder; h != nil && h.owner == e.Owner && h.key.name == e.Key {
		return h
	}
	near := &j.nearby[(tail(e.Key)*0x9e3779b1^tail(e.Owner)*0x85ebca6b)>>16%nearHolders]
	if h := *near; h == nil || h.owner != e.Owner || h.key.name != e.Key {
		*near = j.key(e.Key).holder(e.Owner)
	}
	slot.holder = *near
	return slot.holder
}

const nearHolders = 1 << 14

// tail is the last bytes of a name, which tell most names apart.
func tail(s string) uint32 {
	switch n := len(s); {
	case n >= 3:
		return uint32(s[n-1]) | uint32(s[n-2])<<8 | uint32(s[n-3])<<16
	case n == 2:
		return uint32(s[1]) | uint32(s[0])<<8
	case n == 1:
		return uint32(s[0])
	}
	return 0
}

func (j *Judge) newOp(e *history.Event, h *holder) *op {
	o := j.free
	if o == nil {
		o = new(op)
	} else {
		j.free = o.next
	}
	*o = op{
		what: e.Op, mode: e.Mode, process: e.Process, inv: e.Time, invIdx: e.Index, holder: h, has: e.Has,
		fence: e.Fence, base: e.Base, value: e.Value,
	}
	return o
}

// recycle takes an op back, unless something refers to it still.
func (j *Judge) recycle(o *op) {
	if o.kept {
		return
	}
	o.next = j.free
	j.free = o
}

func (j *Judge) invoke(e *history.Event, slot *proc) {
	h := j.holder(slot, e)
	o := j.newOp(e, h)
	slot.open = o
	o.grant = h.grant
	switch o.what {
	case history.Acquire:
		h.key.leases.push(o)
		j.say(asked, e, o)
	case history.Extend:
		if o.grant != nil {
			o.grant.extends++
		}
	case history.Release:
		j.releasing(e, o)
	case history.Write:
		j.issue(o)
	}
}

// complete gives an open operation its outcome. What really began and ended
// inside of invocation and completion is taken at its word.
func (j *Judge) complete(e *history.Event, o *op) {
	o.outcome, o.ok, o.okIdx = e.Kind, e.Time, e.Index
	if e.HasAll(history.HasBegan) && e.Began >= o.inv && e.Began <= e.Time {
		o.inv = e.Began
	}
	if e.HasAll(history.HasEnded) && e.Ended >= o.inv && e.Ended <= e.Time {
		o.ok = e.Ended
	}
	o.take(e)
	switch o.what {
	case history.Acquire:
		o.leave()
		j.acquired(e, o)
	case history.Extend:
		j.extensionDone(e, o)
	case history.Release:
		j.releaseDone(e, o)
	case history.Write:
		o.leave()
		j.written(e, o)
	default:
		if o.outcome == history.Info {
			j.say(unknown, e, o)
		}
	}
	j.recycle(o)
}

// take adds what a completion knows beyond its invocation.
func (o *op) take(e *history.Event) {
	o.has |= e.Has
	if e.Fence != 0 {
		o.fence = e.Fence
	}
	if e.Value != "" {
		o.value = e.Value
	}
	if e.HasAll(history.HasBase) {
		o.base = e.Base
	}
	o.seq, o.until = e.Seq, e.ValidUntil
}
