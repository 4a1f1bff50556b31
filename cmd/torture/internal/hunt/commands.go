package hunt

import (
	"context"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed"
	"locktorture/lockimpl"
)

// usual are the commands that locks take and give back keys by: what a lock is
// taken to send that could not be listened to.
var usual = []string{"SET", "SETNX", "GET", "DEL", "EVALSHA"}

// introductions are the commands by which clients get to know a server: no moment of
// a lock's life.
var introductions = []string{"HELLO", "AUTH", "CLIENT", "SELECT", "PING", "INFO", "COMMAND", "SCRIPT", "READONLY", "QUIT"}

const (
	listenLimit = 3 * time.Second // for all of it
	listenTTL   = time.Second
)

// commandsOf are the commands that a lock sends when a key is taken, asked for in
// vain, kept and given back, on nodes in memory: the moments to which faults can be
// locked that are its own.
func commandsOf(ctx context.Context, l catalogue.Lock, c config.Config) []string {
	ctx, cancel := context.WithTimeout(ctx, listenLimit)
	defer cancel()
	heard := &listener{commands: map[string]bool{}}
	bed, err := testbed.StartEmbedded(ctx, testbed.EmbeddedConfig{Nodes: l.Masters(c)})
	if err != nil {
		return usual
	}
	defer bed.Close()
	nodes := wiring.Probe(bed)
	for i, n := range bed.Nodes() {
		nodes[i].Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := n.Dial(ctx)
			if err != nil {
				return nil, err
			}
			return &overheard{Conn: conn, by: heard}, nil
		}
	}
	factory := l.Factory(c)
	if l.WithClock != nil {
		factory = l.WithClock(time.Now)
	}
	tryOnce(ctx, factory, nodes)
	if all := heard.all(); len(all) > 0 {
		return all
	}
	return usual
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

func (l *listener) hear(b []byte) {
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
	o.by.hear(b)
	return o.Conn.Write(b)
}
