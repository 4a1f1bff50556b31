package wiring

import (
	"context"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"locktorture/faults/testbed"
	"locktorture/lockimpl"
)

// introductions are the commands by which clients get to know a server: no moment of
// a lock's life.
var introductions = []string{"HELLO", "AUTH", "CLIENT", "SELECT", "PING", "INFO", "COMMAND", "SCRIPT", "READONLY", "QUIT"}

// listenTTL is the lease of the key that Commands takes.
const listenTTL = time.Second

// Commands has a lock take a key on the nodes, ask for it in vain, keep it and give
// it back, and returns the names of the commands that it sends for that, in order:
// none where nothing of it goes.
func Commands(ctx context.Context, factory lockimpl.Factory, on []testbed.Node) []string {
	heard := &listener{commands: map[string]bool{}}
	nodes := Direct(on)
	for i, n := range on {
		nodes[i].Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := n.Dial(ctx)
			if err != nil {
				return nil, err
			}
			return &overheard{Conn: conn, by: heard}, nil
		}
	}
	tryOnce(ctx, factory, nodes)
	return heard.all()
}

// tryOnce uses a lock once. What goes wrong shows when it is played.
func tryOnce(ctx context.Context, factory lockimpl.Factory, nodes []lockimpl.Node) {
	var lockers []lockimpl.Locker
	for range 2 {
		l, err := factory(nodes)
		if err != nil {
			return
		}
		defer l.Close()
		if b, ok := l.(lockimpl.Bootstrapper); ok && len(lockers) == 0 && b.Bootstrap(ctx) != nil {
			return
		}
		lockers = append(lockers, l)
	}
	lease, err := lockers[0].Acquire(ctx, "k0", listenTTL)
	if err != nil {
		return
	}
	if other, err := lockers[1].Acquire(ctx, "k0", listenTTL); err == nil {
		_ = other.Release(ctx)
	}
	_ = lease.Extend(ctx, listenTTL)
	_ = lease.Release(ctx)
}

// A listener notes the names of commands.
type listener struct {
	mu       sync.Mutex
	commands map[string]bool
}

// command is how a command begins on the wire.
var command = regexp.MustCompile(`\*[0-9]+\r\n\$[0-9]+\r\n([A-Za-z]+)\r\n`)

func (l *listener) observe(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range command.FindAllSubmatch(b, -1) {
		if name := strings.ToUpper(string(m[1])); !slices.Contains(introductions, name) {
			l.commands[name] = true
		}
	}
}

func (l *listener) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.commands))
}

// An overheard connection is listened to.
type overheard struct {
	net.Conn
	by *listener
}

// Write implements net.Conn.
func (o *overheard) Write(b []byte) (int, error) {
	o.by.observe(b)
	return o.Conn.Write(b)
}
