package checker

import (
	"maps"
	"slices"
	"strings"

	"locktorture/workload/history"
)

// ledgerNames finds keys and owners by name. Owners are numbered as they come,
// so that who holds what is found without looking at names again.
type ledgerNames struct {
	keys   map[string]*key
	near   [nearNames]nearKey // some of the keys, by nearness
	owners map[string]int
	called []string // owners, by number
}

// A nearKey is a key, and its name as it was spelt last.
type nearKey struct {
	name string
	*key
}

const (
	nearNames = 256
	// placedOwners is how many owners have a place in every key's list.
	placedOwners = 1024
)

// nearness is a number made of a name's end and length, which tells most names
// apart.
func nearness(s string) int {
	n := len(s)
	if n < 2 {
		return 0
	}
	return (int(s[n-1]) + int(s[n-2])*10 + n*100) % nearNames
}

// key finds or makes a key.
func (j *Judge) key(name string) *key {
	near := &j.names.near[nearness(name)]
	if near.key != nil && near.name == name {
		return near.key
	}
	k := j.names.keys[name]
	if k == nil {
		k = &key{name: strings.Clone(name)}
		j.names.keys[k.name] = k
	}
	*near = nearKey{name, k}
	return k
}

// owner finds or makes an owner's number.
func (j *Judge) owner(name string) int {
	no, ok := j.names.owners[name]
	if !ok {
		name = strings.Clone(name)
		no = len(j.names.called)
		j.names.owners[name] = no
		j.names.called = append(j.names.called, name)
	}
	return no
}

// holderOf finds or makes an owner's relation to a key.
func (j *Judge) holderOf(k *key, no int) *holder {
	switch {
	case no < len(k.holders):
	case no < placedOwners:
		k.holders = append(k.holders, make([]*holder, no+1-len(k.holders))...)
	default:
		return j.farHolder(k, no)
	}
	if k.holders[no] == nil {
		k.holders[no] = &holder{key: k, owner: j.names.called[no], no: no}
	}
	return k.holders[no]
}

func (j *Judge) farHolder(k *key, no int) *holder {
	h := k.many[no]
	if h == nil {
		if k.many == nil {
			k.many = make(map[int]*holder)
		}
		h = &holder{key: k, owner: j.names.called[no], no: no}
		k.many[no] = h
	}
	return h
}

// holder finds who e speaks of. A process mostly acts for one owner.
func (j *Judge) holder(slot *proc, e *history.Event) *holder {
	h := slot.holder
	switch {
	case h == nil || slot.owner != e.Owner:
		h = j.holderOf(j.key(e.Key), j.owner(e.Owner))
	case slot.key != e.Key:
		h = j.holderOf(j.key(e.Key), h.no)
	default:
		return h
	}
	slot.holder, slot.owner, slot.key = h, e.Owner, e.Key
	return h
}

// sortedKeys lists the keys by name, for an order that does not change.
func (j *Judge) sortedKeys() []*key {
	out := make([]*key, 0, len(j.names.keys))
	for _, name := range slices.Sorted(maps.Keys(j.names.keys)) {
		out = append(out, j.names.keys[name])
	}
	return out
}

// sortedHolders lists a key's holders by owner.
func (k *key) sortedHolders() []*holder {
	out := slices.DeleteFunc(slices.Clone(k.holders), func(h *holder) bool { return h == nil })
	out = slices.AppendSeq(out, maps.Values(k.many))
	slices.SortFunc(out, func(a, b *holder) int { return strings.Compare(a.owner, b.owner) })
	return out
}

// anyHolder says whether one of the key's holders is so.
func (k *key) anyHolder(is func(*holder) bool) bool {
	for _, h := range k.holders {
		if h != nil && is(h) {
			return true
		}
	}
	for _, h := range k.many {
		if is(h) {
			return true
		}
	}
	return false
}
