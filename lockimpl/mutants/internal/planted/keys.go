// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

import (
	"strconv"
	"strings"
)

// DefaultPrefix is the Prefix of a Config that gives none.
const DefaultPrefix = "lock"

// SharedKey reports whether key is one that all locks with a prefix share on a
// node: the admission record, the quarantine, or a fence. Whoever gives a node back
// to other uses removes them last.
func SharedKey(prefix, key string) bool {
	rest, ours := strings.CutPrefix(key, prefix)
	if number, fence := strings.CutPrefix(rest, fenceInfix); ours && fence {
		n, err := strconv.Atoi(number)
		return err == nil && n >= 0 && n < fences
	}
	return ours && (rest == nodeSuffix || rest == quarantineSuffix)
}

// What follows the prefix in the names of a node's admission record and of its
// quarantine.
const nodeSuffix, quarantineSuffix = ":node", ":quarantine"

// fences is the largest number of fence keys on a node. Locks share them by a
// hash of their names, so that names which are used once and never again do not
// pile up. Sharing costs no guarantee: a token must be above every earlier one of
// its own lock, and those of others only take it further. It costs a second
// round trip when a fence is used for the first time, or when two locks that share
// one are taken at the same moment and reach the nodes in different orders.
const fences = 2048

// keySet holds the names of everything that one lock keeps on a node.
type keySet struct {
	name                    string
	home                    int    // where among the nodes it is asked for first
	node                    string // the node's admission record
	lock, flag              string
	fence                   string // of this lock and of others
	tickets, beats, readers string
	tomb                    string // prefix; an attempt's owner follows
}

func (l *Lock) keys(name string) *keySet {
	base := l.cfg.Prefix + ":{" + name + "}:"
	h := hash(name)
	var digits [4]byte
	number := strconv.AppendUint(digits[:0], uint64(h>>16%fences), 10)
	all := base + "l" + base + "q" + base + "qt" + base + "qb" + base + "r" + base + "x:" + l.cfg.Prefix + fenceInfix + string(number)
	k := &keySet{name: name, node: l.nodeKey, home: int(h % uint32(len(l.nodes)))}
	for _, part := range []struct {
		field  *string
		suffix int
	}{{&k.lock, 1}, {&k.flag, 1}, {&k.tickets, 2}, {&k.beats, 2}, {&k.readers, 1}, {&k.tomb, 2}} {
		*part.field, all = all[:len(base)+part.suffix], all[len(base)+part.suffix:]
	}
	k.fence = all
	return k
}

// fenceInfix and a number follow the prefix in the name of a fence.
const fenceInfix = ":fence:"

// LeaseKeys implements KeyLister.
func (l *Lock) LeaseKeys(key string) []string {
	k := l.keys(key)
	return []string{k.lock, k.readers}
}

// hash spreads names over the nodes and over the fences, in the same way for
// every client.
func hash(name string) uint32 {
	h := uint32(2166136261) // FNV-1a
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return h
}
