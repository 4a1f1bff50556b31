// Code generated from the lock and planted.patch by go test ./lockimpl/mutants/internal/plant -update. DO NOT EDIT.

package planted

// keySet holds the names of everything that one lock keeps on a node.
type keySet struct {
	name                    string
	home                    int    // where among the nodes it is asked for first
	node                    string // the node's admission record
	lock, fence, flag       string
	tickets, beats, readers string
	tomb                    string // prefix; an attempt's owner follows
}

func (l *Lock) keys(name string) *keySet {
	base := l.cfg.Prefix + ":{" + name + "}:"
	all := base + "l" + base + "f" + base + "q" + base + "qt" + base + "qb" + base + "r" + base + "x:"
	k := &keySet{name: name, node: l.nodeKey, home: home(name, len(l.nodes))}
	for _, part := range []struct {
		field  *string
		suffix int
	}{{&k.lock, 1}, {&k.fence, 1}, {&k.flag, 1}, {&k.tickets, 2}, {&k.beats, 2}, {&k.readers, 1}, {&k.tomb, 2}} {
		*part.field, all = all[:len(base)+part.suffix], all[len(base)+part.suffix:]
	}
	return k
}

// LeaseKeys implements KeyLister.
func (l *Lock) LeaseKeys(key string) []string {
	k := l.keys(key)
	return []string{k.lock, k.readers}
}

// home spreads names over n nodes, in the same way for every client.
func home(name string, n int) int {
	h := uint32(2166136261) // FNV-1a
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return int(h % uint32(n))
}
