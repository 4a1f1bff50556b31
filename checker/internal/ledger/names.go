package ledger

import (
	"maps"
	"slices"
	"strings"

	"locktorture/workload/history"
)

// ledgerNames finds keys and owners by name. Both are numbered in the order in which they
// occur, so that a lookup by name is needed once per operation.
type ledgerNames struct {
	Keys    map[string]*Key
	near    [nearNames]nearKey // some of the keys, by nearness
	owners  map[string]int
	Called  []string // owners, by number
	holders int      // how many there are
}

// A nearKey is a key in a small cache, and its name as the last event spelt it.
type nearKey struct {
	name string
	*Key
}

const (
	nearNames = 256
	// placedOwners is how many owners have a place in every key's list.
	placedOwners = 1024
)

// nearness is a hash of a name, made of its end and length: it differs for most names.
func nearness(s string) int {
	n := len(s)
	if n < 2 {
		return 0
	}
	return (int(s[n-1]) + int(s[n-2])*10 + n*100) % nearNames
}

// Key finds or makes a key.
func (l *Ledger) Key(name string) *Key {
	near := &l.Names.near[nearness(name)]
	if near.Key != nil && near.name == name {
		return near.Key
	}
	k := l.Names.Keys[name]
	if k == nil {
		k = &Key{Name: strings.Clone(name), No: len(l.Names.Keys)}
		l.Names.Keys[k.Name] = k
	}
	*near = nearKey{name, k}
	return k
}

// Owner finds or makes an owner's number.
func (l *Ledger) Owner(name string) int {
	no, ok := l.Names.owners[name]
	if !ok {
		name = strings.Clone(name)
		no = len(l.Names.Called)
		l.Names.owners[name] = no
		l.Names.Called = append(l.Names.Called, name)
	}
	return no
}

// HolderOf finds or makes an owner's relation to a key.
func (l *Ledger) HolderOf(k *Key, no int) *Holder {
	switch {
	case no < len(k.Holders):
	case no < placedOwners:
		k.Holders = append(k.Holders, make([]*Holder, no+1-len(k.Holders))...)
	default:
		return l.farHolder(k, no)
	}
	if k.Holders[no] == nil {
		k.Holders[no] = l.newHolder(k, no)
	}
	return k.Holders[no]
}

func (l *Ledger) newHolder(k *Key, no int) *Holder {
	l.Names.holders++
	return &Holder{Key: k, Owner: l.Names.Called[no], OwnerNo: no, ID: l.Names.holders - 1}
}

func (l *Ledger) farHolder(k *Key, no int) *Holder {
	h := k.many[no]
	if h == nil {
		if k.many == nil {
			k.many = make(map[int]*Holder)
		}
		h = l.newHolder(k, no)
		k.many[no] = h
	}
	return h
}

// holder finds the owner and the key that e is about. A process mostly acts for one owner.
func (l *Ledger) holder(slot *proc, e *history.Event) *Holder {
	h := slot.holder
	switch {
	case h == nil || slot.owner != e.Owner:
		h = l.HolderOf(l.Key(e.Key), l.Owner(e.Owner))
	case slot.key != e.Key:
		h = l.HolderOf(l.Key(e.Key), h.OwnerNo)
	default:
		return h
	}
	slot.holder, slot.owner, slot.key = h, e.Owner, e.Key
	return h
}

// SortedKeys lists the keys by name, so that their order depends on nothing else.
func (l *Ledger) SortedKeys() []*Key {
	out := make([]*Key, 0, len(l.Names.Keys))
	for _, name := range slices.Sorted(maps.Keys(l.Names.Keys)) {
		out = append(out, l.Names.Keys[name])
	}
	return out
}

// SortedHolders lists a key's holders by owner.
func (k *Key) SortedHolders() []*Holder {
	out := slices.DeleteFunc(slices.Clone(k.Holders), func(h *Holder) bool { return h == nil })
	out = slices.AppendSeq(out, maps.Values(k.many))
	slices.SortFunc(out, func(a, b *Holder) int { return strings.Compare(a.Owner, b.Owner) })
	return out
}

// AnyHolder says whether is holds for any of the key's holders.
func (k *Key) AnyHolder(is func(*Holder) bool) bool {
	for _, h := range k.Holders {
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
