package lockimpl

// keySet holds the names of everything that one lock keeps on a node.
type keySet struct {
	name                    string
	node                    string // the node's admission record
	lock, fence, flag       string
	tickets, beats, readers string
	tomb                    string // prefix; an attempt's owner follows
}

func (l *Lock) keys(name string) *keySet {
	base := l.cfg.Prefix + ":{" + name + "}:"
	all := base + "l" + base + "f" + base + "q" + base + "qt" + base + "qb" + base + "r" + base + "x:"
	k := &keySet{name: name, node: l.nodeKey}
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
