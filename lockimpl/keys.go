package lockimpl

import "locktorture/lockimpl/internal/script"

// keySet holds the names of everything that one lock keeps on a node, boxed
// once for all the commands of an attempt.
type keySet struct {
	name                    string
	node, lock, fence, flag any
	tickets, beats, readers any
	tombPrefix              string
}

func (l *Lock) keys(name string) *keySet {
	base := l.cfg.Prefix + ":{" + name + "}:"
	return &keySet{
		name:       name,
		node:       l.nodeKey,
		lock:       base + "l",
		fence:      base + "f",
		flag:       base + "q",
		tickets:    base + "qt",
		beats:      base + "qb",
		readers:    base + "r",
		tombPrefix: base + "x:",
	}
}

// LeaseKeys implements KeyLister.
func (l *Lock) LeaseKeys(key string) []string {
	k := l.keys(key)
	return []string{k.lock.(string), k.readers.(string)}
}

// runIndex is where the run id goes in a command's arguments.
type command struct {
	script   *script.Script
	args     []any
	runIndex int
}

// on returns the arguments for one node.
func (c command) on(run any) []any {
	args := make([]any, len(c.args))
	copy(args, c.args)
	args[c.runIndex] = run
	return args
}
