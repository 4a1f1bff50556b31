// Package child puts locks of other languages under test: one child process per
// client, which answers one flat JSON object per line (README.md has the
// protocol and how to write a wrapper).
//
// A child dials its nodes itself, over TCP: the nodes given to its factory must
// carry the addresses of the client's own links in Addr; Dial is not used.
package child

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"locktorture/lockimpl"
)

// Defaults of a Command.
const (
	DefaultIO    = time.Second
	DefaultGrace = 2 * time.Second
	DefaultLeave = 30 * time.Second
	DefaultStart = 30 * time.Second // an interpreter on a busy machine takes its time
)

var (
	// ErrSilent reports that a child did not answer within the operation's
	// budget and grace, although nobody had stopped it. The outcome is unknown.
	ErrSilent = errors.New("the child does not answer")

	// ErrGone reports that the child's process has ended. The outcome is
	// unknown.
	ErrGone = errors.New("the child is gone")
)

// A Command says how to run a lock's wrapper.
type Command struct {
	Path string   // the program; looked up in PATH when it has no slash
	Args []string // its arguments
	Env  []string // added to the harness's own environment
	Dir  string   // its working directory; empty is the harness's

	Log io.Writer // takes the children's standard error; nil drops it

	Every    time.Duration // a lease makes the child write this often while held; 0 is never
	IO       time.Duration // time-out of the library's network operations; 0 is DefaultIO
	Grace    time.Duration // what an answer may take beyond its budget; 0 is DefaultGrace
	Leave    time.Duration // what a child may take to leave, before it is killed; 0 is DefaultLeave. One that owes an answer has that answer's budget and the grace
	Start    time.Duration // what the way from the start to the answer to init may take; 0 is DefaultStart
	Watchdog time.Duration // time-out that the library's own watchdog is to have, where it has one; 0 leaves it alone
	Seed     uint64        // of the first child; each further one gets the next

	// Keys names the keys that bear the lease of key, where the child does not; nil means key
	// itself.
	Keys func(key string) []string

	hide *strings.Replacer // the nodes' passwords, in what is told of a child
}

// A Starter is a lockimpl.Factory with a context that cancels a start under way. The Locker
// outlives the context.
type Starter func(ctx context.Context, nodes []lockimpl.Node) (lockimpl.Locker, error)

// Factory returns a factory that starts one child per client, each within c.Start.
func (c Command) Factory() lockimpl.Factory { return c.Starter().Factory() }

// Factory is s where nobody calls anything off.
func (s Starter) Factory() lockimpl.Factory {
	return func(nodes []lockimpl.Node) (lockimpl.Locker, error) { return s(context.Background(), nodes) }
}

// Starter returns what starts one child per client, each within c.Start.
func (c Command) Starter() Starter {
	c.IO, c.Grace, c.Start = cmp.Or(c.IO, DefaultIO), cmp.Or(c.Grace, DefaultGrace), cmp.Or(c.Start, DefaultStart)
	c.Leave = cmp.Or(c.Leave, DefaultLeave)
	if c.Keys == nil {
		c.Keys = func(key string) []string { return []string{key} }
	}
	var children atomic.Uint64
	k := newKin()
	return func(ctx context.Context, nodes []lockimpl.Node) (lockimpl.Locker, error) {
		n := children.Add(1) - 1
		own := c
		init := request{
			"client": fmt.Sprintf("p%02d", n), "seed": c.Seed + n,
			"io_ms": c.IO.Milliseconds(), "watchdog_ms": c.Watchdog.Milliseconds(),
		}
		if len(nodes) == 1 && nodes[0].Sentinel != nil {
			init["sentinel"] = nodes[0].Sentinel.Master
			nodes = sentinels(nodes[0])
		}
		init["nodes"] = addresses(nodes)
		own.hide = hiding(nodes)
		own.Env = append(slices.Clone(c.Env), nodesVariable+"="+urls(nodes), k.mark)
		l, err := start(ctx, own, k, init)
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", c.Path, err)
		}
		return l.withAbilities(), nil
	}
}

// sentinels are those of n, as nodes.
func sentinels(n lockimpl.Node) (all []lockimpl.Node) {
	for _, addr := range n.Sentinel.Addrs {
		all = append(all, lockimpl.Node{Addr: addr, Username: n.Username, Password: n.Password, DB: n.DB})
	}
	return all
}

// nodesVariable tells a child its nodes as URLs, with what they ask of those who
// connect: a password belongs on no command line, and in no log of messages.
const nodesVariable = "LOCKTORTURE_NODES"

// plain are characters that URLs may have in a password, but lists separate by, or
// some libraries read as others.
var plain = strings.NewReplacer(",", "%2C", "+", "%2B")

func urls(nodes []lockimpl.Node) string {
	out := make([]string, len(nodes))
	for i, n := range nodes {
		u := url.URL{Scheme: "redis", Host: n.Addr, Path: "/" + strconv.Itoa(n.DB)}
		if n.Username != "" || n.Password != "" {
			u.User = url.UserPassword(n.Username, n.Password)
		}
		out[i] = plain.Replace(u.String())
	}
	return strings.Join(out, ",")
}

// hidden replaces a password that a child was given and has printed.
const hidden = "[hidden]"

// hiding replaces the passwords of nodes, both as they are and as they stand in URLs.
func hiding(nodes []lockimpl.Node) *strings.Replacer {
	var pairs []string
	for _, n := range nodes {
		if n.Password != "" {
			escaped := strings.TrimPrefix(url.UserPassword("", n.Password).String(), ":")
			for _, form := range []string{n.Password, escaped, plain.Replace(escaped), url.QueryEscape(n.Password)} {
				pairs = append(pairs, form, hidden)
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

func addresses(nodes []lockimpl.Node) string {
	out := make([]string, len(nodes))
	for i, n := range nodes {
		out[i] = n.Addr
	}
	return strings.Join(out, ",")
}

// A Write is one effect of a child on the guarded resource, which for children
// is the harness itself.
type Write struct {
	Handle   string // of the lease, as Lease's Handle says it
	Key      string
	N        uint64 // counts the lease's writes, from 1
	Fence    uint64
	Granted  time.Time // when the child's word that it holds the lease was read
	Issued   time.Time // when the child says that it wrote, or Received where its clock cannot be trusted
	Received time.Time
}

// A WriteObserver is told of every write of a child, in the order of arrival,
// which is the order of the resource. While it blocks, the child's further lines
// wait.
type WriteObserver interface{ ObserveWrite(Write) }

// A Process is a child as faults act on it: every locker of this package is one. The times that
// its methods return are those at which the harness acted.
type Process interface {
	Stop() (time.Time, error) // SIGSTOP; returns once the process has stopped
	Cont() (time.Time, error) // SIGCONT
	Kill() (time.Time, error) // SIGKILL; returns once the process is gone

	Pid() int // of the process, which may have ended

	// Died says how the process ended although neither Kill nor Close had told
	// it to: nil when it has not.
	Died() *DeathError

	// Findings lists what the child did against the protocol: answers that
	// came too late or never, lines that are none, times out of order, a
	// process that would not leave. Call it after Close for all of them.
	Findings() []string
}

// An Observable reports the writes of its child: every locker of this package is one. It has
// one observer at a time; nil ends the observation.
type Observable interface{ ObserveWrites(WriteObserver) }
