package testbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// KindExternal is the name of the testbed of servers that run already.
const KindExternal = "external"

// reachTimeout bounds all questions to one external server.
const reachTimeout = 10 * time.Second

// An ExternalConfig names servers that run already.
type ExternalConfig struct {
	Addrs        []string // host:port of each independent master
	Store        string   // host:port of the guarded store's Redis; empty: the first master's server serves as the store too
	Prefix       string   // of every key that the run will write; no such key may exist yet. Empty: the servers must be empty
	OwnThisRedis bool     // the caller owns these servers, although they are not on this machine
}

// An externalBed is a testbed of servers that somebody else runs: their links
// can be hurt, they themselves cannot.
type externalBed struct {
	version string
	nodes   []Node
	store   Node
	shared  bool // the store is on n1's server
}

// StartExternal checks that the servers of c are safe to use and does not change
// anything on them: each is on this machine or owned by the caller, reachable,
// a master outside any cluster, a server of its own, and without keys under the
// prefix.
func StartExternal(ctx context.Context, c ExternalConfig) (Testbed, error) {
	if len(c.Addrs) == 0 {
		return nil, errors.New("start external testbed: no address given")
	}
	b := &externalBed{store: &externalNode{name: StoreName, addr: cmp.Or(c.Store, c.Addrs[0])}}
	b.shared = b.store.Addr() == c.Addrs[0]
	for i, addr := range c.Addrs {
		b.nodes = append(b.nodes, &externalNode{name: fmt.Sprintf("n%d", i+1), addr: addr})
	}
	check := b.nodes
	if !b.shared {
		check = append([]Node{b.store}, b.nodes...)
	}
	seen := map[string]Node{} // server's run id → node
	for _, n := range check {
		version, err := vet(ctx, n, c, seen)
		if err != nil {
			return nil, fmt.Errorf("start external testbed: %s (%s): %w", n.Name(), n.Addr(), err)
		}
		b.version = version
	}
	return b, nil
}

// vet returns the version of a server that is safe to use.
func vet(ctx context.Context, n Node, c ExternalConfig, seen map[string]Node) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	if !c.OwnThisRedis {
		if err := requireLoopback(ctx, n.Addr()); err != nil {
			return "", err
		}
	}
	f, err := info(ctx, n)
	if err != nil {
		return "", err
	}
	id := f["run_id"]
	if other := seen[id]; other != nil && id != "" {
		return "", fmt.Errorf("the same server as %s (%s): the masters must be independent", other.Name(), other.Addr())
	}
	seen[id] = n
	if role := f["role"]; role != "master" {
		return "", fmt.Errorf("role %q: a master is needed", role)
	}
	if mode := cmp.Or(f["redis_mode"], f["server_mode"]); mode == "cluster" {
		return "", errors.New("part of a Redis Cluster: independent masters are needed")
	}
	return serverVersion(f), requireNoKeys(ctx, n, c.Prefix)
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
			return fmt.Errorf("%s is not this machine: torture writes and deletes keys there; say that you own this Redis to go on", ip)
		}
	}
	return nil
}

// requireNoKeys looks for keys under prefix without blocking the server.
func requireNoKeys(ctx context.Context, n Node, prefix string) error {
	s, err := open(ctx, n)
	if err != nil {
		return err
	}
	defer s.close()
	for cursor := "0"; ; {
		v, err := s.do("SCAN", cursor, "MATCH", globQuote(prefix)+"*", "COUNT", "1000")
		if err != nil {
			return err
		}
		page, _ := v.([]any)
		if len(page) != 2 {
			return fmt.Errorf("SCAN: unexpected reply %v", v)
		}
		if keys, _ := page[1].([]any); len(keys) > 0 {
			return fmt.Errorf("keys exist already, such as %q: delete them, or give a server without keys%s", keys[0], under(prefix))
		}
		if cursor = fmt.Sprint(page[0]); cursor == "0" {
			return nil
		}
	}
}

// under says which keys must not exist.
func under(prefix string) string {
	if prefix == "" {
		return ""
	}
	return fmt.Sprintf(" under %q", prefix)
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
func (b *externalBed) Name() string { return KindExternal }

// Version implements Testbed.
func (b *externalBed) Version() string { return b.version }

// Nodes implements Testbed.
func (b *externalBed) Nodes() []Node { return append([]Node(nil), b.nodes...) }

// Store implements Testbed.
func (b *externalBed) Store() Node { return b.store }

// Close implements Testbed. The servers are not ours to end.
func (b *externalBed) Close() error { return nil }

// Describe implements Describer.
func (b *externalBed) Describe() string {
	store := "the store at " + b.store.Addr()
	if b.shared {
		store = "the store on n1's server"
	}
	return fmt.Sprintf("%d given masters and %s, %s; persistence is theirs", len(b.nodes), store, b.version)
}

// An externalNode is a server at an address.
type externalNode struct {
	name, addr string

	vitals vitals
}

// Unplanned implements Watched.
func (n *externalNode) Unplanned(ctx context.Context) error { return n.vitals.look(ctx, n, false) }

// Name implements Node.
func (n *externalNode) Name() string { return n.name }

// Addr implements Node.
func (n *externalNode) Addr() string { return n.addr }

// Dial implements Node.
func (n *externalNode) Dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", n.addr)
}
