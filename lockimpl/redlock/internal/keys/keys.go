// Package keys names what a lock keeps on a node.
package keys

import (
	"strconv"
	"strings"
)

// Shared reports whether key is one that all locks with a prefix share on a
// node: the admission record, the quarantine, or a fence.
func Shared(prefix, key string) bool {
	rest, ours := strings.CutPrefix(key, prefix)
	if number, fence := strings.CutPrefix(rest, fenceInfix); ours && fence {
		n, err := strconv.Atoi(number)
		return err == nil && n >= 0 && n < Fences
	}
	return ours && (rest == nodeSuffix || rest == quarantineSuffix)
}

// What follows the prefix in the names of a node's admission record and of its
// quarantine, and, before a number, of a fence.
const (
	nodeSuffix       = ":node"
	quarantineSuffix = ":quarantine"
	fenceInfix       = ":fence:"
)

// A Space is the names of all locks with one prefix.
type Space struct {
	Prefix     string
	Node       string // a node's admission record
	Quarantine string // a node's quarantine
}

// Under returns the names that begin with prefix.
func Under(prefix string) Space {
	return Space{Prefix: prefix, Node: prefix + nodeSuffix, Quarantine: prefix + quarantineSuffix}
}

// Fences is the largest number of fence keys on a node. Locks share them by a
// hash of their names, so that names which are used once and never again do not
// pile up. Sharing costs no guarantee: a token must be above every earlier one of
// its own lock, and those of others only take it further. It costs a second
// round trip when a fence is used for the first time, or when two locks that share
// one are taken at the same moment and reach the nodes in different orders.
const Fences = 2048

// A Set holds the names of everything that one lock keeps on a node.
type Set struct {
	Name                    string // the lock's own
	Hash                    uint32 // of Name, the same for every client
	Node                    string // the node's admission record
	Lock, Flag              string
	Fence                   string // of this lock and of others
	Tickets, Beats, Readers string
	Tombstone               string // prefix; an attempt's owner follows
}

// Of returns the names of all that the lock called name keeps on a node.
func (p Space) Of(name string) *Set {
	base := p.Prefix + ":{" + name + "}:"
	s := &Set{Name: name, Hash: hash(name), Node: p.Node}
	var digits [4]byte
	number := strconv.AppendUint(digits[:0], uint64(s.Hash>>16%Fences), 10)
	all := base + "l" + base + "q" + base + "qt" + base + "qb" + base + "r" + base + "x:" + p.Prefix + fenceInfix + string(number)
	for _, part := range []struct {
		field  *string
		suffix int
	}{{&s.Lock, 1}, {&s.Flag, 1}, {&s.Tickets, 2}, {&s.Beats, 2}, {&s.Readers, 1}, {&s.Tombstone, 2}} {
		*part.field, all = all[:len(base)+part.suffix], all[len(base)+part.suffix:]
	}
	s.Fence = all
	return s
}

// hash spreads names over the nodes and over the fences.
func hash(name string) uint32 {
	h := uint32(2166136261) // FNV-1a
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return h
}
