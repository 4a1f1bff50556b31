package testbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"

	"locktorture/faults/testbed/server"
)

// KindExternal is the name of the testbed of servers that run already.
const KindExternal = "external"

// KindJoined is the name of a testbed that another process has started or been given.
const KindJoined = "joined"

// An ExternalConfig names servers that run already.
type ExternalConfig struct {
	Masters      []server.Endpoint // independent of one another
	Store        *server.Endpoint  // the guarded store's Redis; nil: the first master's server serves as the store too
	Prefix       string            // in the name of every key that the run will write; no such key may exist yet. Empty: the servers must be empty
	OwnThisRedis bool              // the caller owns these servers, although they are not on this machine
}

// An externalBed is a testbed of servers that somebody else runs: their links can be impaired,
// the servers cannot be touched.
type externalBed struct {
	version string
	nodes   []*externalNode
	store   *externalNode
	shared  bool // the store is on n1's server
	joined  bool // by a process that did not start it
}

// StartExternal checks that the servers of c are safe to use and does not change
// anything on them: each is on this machine or owned by the caller, reachable,
// a master outside any cluster, a server of its own, and without keys under the
// prefix. An error that is no server.Error is mended by giving something else.
func StartExternal(ctx context.Context, c ExternalConfig) (_ Testbed, err error) {
	b, err := newExternal(c)
	if err != nil {
		return nil, err
	}
	all := b.all()
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	seen := map[string]*externalNode{} // server's run id → node
	for i, n := range all {
		if i == 0 && b.shared {
			continue
		}
		if b.version, err = vet(ctx, n, c, seen); err != nil {
			return nil, fmt.Errorf("start external testbed: %s (%s): %w", n.Name(), n.at, err)
		}
	}
	return b, b.prepareLinks()
}

func newExternal(c ExternalConfig) (*externalBed, error) {
	if len(c.Masters) == 0 {
		return nil, errors.New("start external testbed: no address given")
	}
	store := c.Masters[0]
	if c.Store != nil {
		store = *c.Store
	}
	b := &externalBed{store: &externalNode{name: StoreName, at: store}}
	b.shared = store.String() == c.Masters[0].String()
	for i, at := range c.Masters {
		b.nodes = append(b.nodes, &externalNode{name: fmt.Sprintf("n%d", i+1), at: at})
	}
	return b, nil
}

// Join is a testbed that another process of the same run has started or vetted, at the
// same addresses. Each server is dialled once: what cannot be reached from here is an
// error. Closing it ends no server.
func Join(ctx context.Context, c ExternalConfig) (_ Testbed, err error) {
	b, err := newExternal(c)
	if err != nil {
		return nil, err
	}
	b.joined = true
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, server.ReachTimeout)
	defer cancel()
	for _, n := range b.all() {
		conn, err := n.at.Dial(ctx)
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			return nil, fmt.Errorf("%s (%s) cannot be reached from here: %w", n.name, n.at, err)
		}
	}
	return b, b.prepareLinks()
}

// all are the store and the nodes.
func (b *externalBed) all() []*externalNode { return append([]*externalNode{b.store}, b.nodes...) }

func (b *externalBed) prepareLinks() error {
	for _, n := range b.all() {
		if err := n.prepareLinks(); err != nil {
			return err
		}
	}
	return nil
}

// vet checks that a server is safe to use, and returns its version.
func vet(ctx context.Context, n *externalNode, c ExternalConfig, seen map[string]*externalNode) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, server.ReachTimeout)
	defer cancel()
	if !c.OwnThisRedis && n.at.Network != "unix" {
		if err := requireLoopback(ctx, n.at.Addr); err != nil {
			return "", n.at.Explain(err)
		}
	}
	f, err := info(ctx, n)
	if err != nil {
		return "", n.at.Explain(err)
	}
	id := f["run_id"]
	if other := seen[id]; other != nil && id != "" {
		return "", fmt.Errorf("the same server as %s (%s): the masters must be independent", other.Name(), other.at)
	}
	seen[id] = n
	switch mode := cmp.Or(f["redis_mode"], f["server_mode"]); mode {
	case "cluster":
		return "", server.ErrCluster
	case "sentinel":
		return "", errors.New("a Sentinel, which keeps no data: give the master that it watches")
	}
	switch role := f["role"]; role {
	case "master":
	case "slave":
		return "", fmt.Errorf("a replica of %s, which takes no writes: give the master itself", net.JoinHostPort(f["master_host"], f["master_port"]))
	default:
		return "", fmt.Errorf("role %q: a master is needed", role)
	}
	if err := requireNoKeys(ctx, n, c.Prefix); err != nil {
		return "", n.at.Explain(err)
	}
	keepsStore := n.Name() == StoreName || c.Store == nil && n.at.String() == c.Masters[0].String()
	return serverVersion(f), n.at.Explain(requireCommands(ctx, n, c.Prefix, keepsStore))
}

// requireCommands checks that the server would execute what a run sends by itself, for this
// user and on keys with prefix, and that it takes writes: to plant the canary, to look at keys
// and remove them, and to keep the guarded store. It executes nothing.
func requireCommands(ctx context.Context, n Node, prefix string, keepsStore bool) error {
	s, err := open(ctx, n)
	if err != nil {
		return err
	}
	defer s.Close()
	var commands [][]string
	for _, key := range []string{prefix + "k0", prefix + "locktorture-probe"} {
		commands = append(commands, []string{"SET", key, "x"}, []string{"GET", key}, []string{"EXISTS", key}, []string{"DEL", key},
			[]string{"UNLINK", key}, []string{"TYPE", key}, []string{"PTTL", key})
	}
	if key := prefix + "locktorture:probe"; keepsStore {
		commands = append(commands, []string{"EVALSHA", "0", "1", key}, []string{"EVAL", "return 0", "1", key}, []string{"HMGET", key, "f"},
			[]string{"HSET", key, "f", "v"}, []string{"INCR", key}, []string{"XADD", key, "1-0", "f", "v"}, []string{"XRANGE", key, "-", "+"})
	}
	return s.Accepts(commands)
}

func requireLoopback(ctx context.Context, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	ips, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return fmt.Errorf("resolve: %w", err)
	}
	for _, ip := range ips {
		if !ip.IP.IsLoopback() {
			return fmt.Errorf("%s is not this machine: torture writes and deletes keys there; say that you own this Redis to go on", ip.IP)
		}
	}
	return nil
}

// requireNoKeys checks that no key begins with prefix, without blocking the server.
func requireNoKeys(ctx context.Context, n Node, prefix string) error {
	s, err := open(ctx, n)
	if err != nil {
		return err
	}
	defer s.Close()
	for cursor := "0"; ; {
		v, err := s.Do("SCAN", cursor, "MATCH", "*"+globQuote(prefix)+"*", "COUNT", "1000")
		if err != nil {
			return err
		}
		page, _ := v.([]any)
		if len(page) != 2 {
			return fmt.Errorf("SCAN: unexpected reply %v", v)
		}
		if keys, _ := page[1].([]any); len(keys) > 0 {
			return fmt.Errorf("keys exist already, such as %q: delete them, or give %s", keys[0], without(prefix))
		}
		if cursor = fmt.Sprint(page[0]); cursor == "0" {
			return nil
		}
	}
}

// without says what would be right in place of keys with prefix.
func without(prefix string) string {
	if prefix == "" {
		return "a server without keys, or a prefix that none of them has in its name (--prefix)"
	}
	return fmt.Sprintf("a prefix that none of them has in its name, in place of %q", prefix)
}

// globQuote makes MATCH take s literally.
func globQuote(s string) string {
	quoted := make([]byte, 0, len(s))
	for i := range len(s) {
		switch s[i] {
		case '*', '?', '[', ']', '^', '\\', '-':
			quoted = append(quoted, '\\')
		}
		quoted = append(quoted, s[i])
	}
	return string(quoted)
}

// Name implements Testbed.
func (b *externalBed) Name() string {
	if b.joined {
		return KindJoined
	}
	return KindExternal
}

// Version implements Testbed.
func (b *externalBed) Version() string { return b.version }

// Nodes implements Testbed.
func (b *externalBed) Nodes() (all []Node) {
	for _, n := range b.nodes {
		all = append(all, n)
	}
	return all
}

// Store implements Testbed.
func (b *externalBed) Store() Node { return b.store }

// Close implements Testbed. The servers are not ours to end.
func (b *externalBed) Close() error {
	var errs []error
	for _, n := range b.all() {
		if n.tunnel != nil {
			errs = append(errs, n.tunnel.Close())
		}
	}
	return errors.Join(errs...)
}

// A Given node is a server that somebody else runs, at an endpoint that may ask for
// credentials.
type Given interface {
	Endpoint() server.Endpoint
}

// An externalNode is a server at an endpoint.
type externalNode struct {
	name   string
	at     server.Endpoint
	tunnel *server.Tunnel // where links lead to; nil: to the server itself

	vitals vitals
}

// prepareLinks gives links a way to the node where they cannot go there by
// themselves.
func (n *externalNode) prepareLinks() (err error) {
	if n.at.TLS != nil || n.at.Network == "unix" {
		n.tunnel, err = server.OpenTunnel(n.at)
	}
	return err
}

// Endpoint implements Given.
func (n *externalNode) Endpoint() server.Endpoint { return n.at }

// Unplanned implements Watched.
func (n *externalNode) Unplanned(ctx context.Context) error { return n.vitals.check(ctx, n, false) }

// Name implements Node.
func (n *externalNode) Name() string { return n.name }

// Addr implements Node.
func (n *externalNode) Addr() string { return n.at.Addr }

// Upstream implements Upstreamer: host:port, where a connection is not encrypted
// and has yet to log in.
func (n *externalNode) Upstream() string {
	if n.tunnel != nil {
		return n.tunnel.Addr()
	}
	return n.at.Addr
}

// Dial implements Node.
func (n *externalNode) Dial(ctx context.Context) (net.Conn, error) {
	if n.tunnel != nil {
		return n.at.LoginBy(ctx, n.tunnel.Dial)
	}
	return n.at.Dial(ctx)
}
