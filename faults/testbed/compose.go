package testbed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"locktorture/faults/testbed/server"
)

// KindCompose is the name of the testbed of docker-compose.yml's servers.
const KindCompose = "compose"

// composeMark is the syslog-ident of docker-compose.yml's servers. It says that they are meant
// for tests: a server without it is never emptied.
const composeMark = "locktorture"

// composeClient is the name of the connection by which a harness claims the
// servers. It ends with the harness, however that ends.
const composeClient = "locktorture-harness"

// A ComposeConfig names the servers of docker-compose.yml.
type ComposeConfig struct {
	Addrs     []string // host:port of the masters, as the harness reaches them
	Store     string   // host:port of the store's Redis
	Upstreams []string // host:port of the masters, then of the store, as their toxiproxy reaches them
}

// claimWait is how long a claim waits for the end of another one.
const claimWait = time.Second

// An Upstreamer has another address for a proxy that runs beside it.
type Upstreamer interface {
	Upstream() string // host:port
}

// A composeBed is the testbed of docker-compose.yml: servers that a harness
// cannot kill, but may empty and administer.
type composeBed struct {
	Testbed
	nodes []Node
	store Node
	claim *server.Session
}

// StartCompose claims the servers of c, empties them, and holds them until
// Close. Each must carry the mark that docker-compose.yml gives it.
func StartCompose(ctx context.Context, c ComposeConfig) (Testbed, error) {
	b, err := newComposeBed(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("start compose testbed: %w", err)
	}
	b.Testbed, err = StartExternal(ctx, ExternalConfig{Masters: server.Plain(c.Addrs...), Store: &server.Endpoint{Addr: c.Store}, OwnThisRedis: true})
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func newComposeBed(ctx context.Context, c ComposeConfig) (*composeBed, error) {
	if len(c.Upstreams) != len(c.Addrs)+1 {
		return nil, fmt.Errorf("%d upstreams for %d masters and the store", len(c.Upstreams), len(c.Addrs))
	}
	b := &composeBed{}
	for i, addr := range c.Addrs {
		b.nodes = append(b.nodes, &composeNode{externalNode{name: fmt.Sprintf("n%d", i+1), at: server.Endpoint{Addr: addr}}, c.Upstreams[i]})
	}
	b.store = &composeNode{externalNode{name: StoreName, at: server.Endpoint{Addr: c.Store}}, c.Upstreams[len(c.Addrs)]}
	all := append(b.Nodes(), b.store)
	for _, n := range all {
		if err := requireMark(ctx, n); err != nil {
			return nil, fmt.Errorf("%s (%s): %w", n.Name(), n.Addr(), err)
		}
	}
	var err error
	if b.claim, err = claim(ctx, b.store); err != nil {
		return nil, fmt.Errorf("%s (%s): %w", b.store.Name(), b.store.Addr(), err)
	}
	for _, n := range all {
		if _, err := Do(ctx, n, "FLUSHALL"); err != nil {
			return nil, errors.Join(fmt.Errorf("empty %s (%s): %w", n.Name(), n.Addr(), err), b.Close())
		}
	}
	return b, nil
}

// requireMark makes sure that a server is one of docker-compose.yml's.
func requireMark(ctx context.Context, n Node) error {
	ctx, cancel := context.WithTimeout(ctx, server.ReachTimeout)
	defer cancel()
	v, err := Do(ctx, n, "CONFIG", "GET", "syslog-ident")
	if err != nil {
		return fmt.Errorf("%w (docker compose up -d starts the servers)", err)
	}
	if pair, _ := v.([]any); len(pair) != 2 || pair[1] != composeMark {
		return fmt.Errorf("syslog-ident is %v, not %q: it is none of docker-compose.yml's servers, and will not be emptied; --testbed external takes servers as they are", v, composeMark)
	}
	return nil
}

// claim opens the connection that marks the servers as in use. It waits for the mark of a
// harness that has just ended, which may still be listed.
func claim(ctx context.Context, store Node) (*server.Session, error) {
	s, err := open(context.WithoutCancel(ctx), store)
	if err != nil {
		return nil, err
	}
	for patience := time.Now().Add(claimWait); ; {
		alone, err := claimBy(s)
		if alone && err == nil {
			return s, nil
		}
		if err == nil && time.Now().After(patience) {
			err = errors.New("another torture run is using these servers: wait for its end")
		}
		if err != nil {
			s.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(claimWait / 10):
		}
	}
}

// claimBy names the connection, and reports whether no other one has the name.
func claimBy(s *server.Session) (alone bool, err error) {
	if _, err := s.Do("CLIENT", "SETNAME", composeClient); err != nil {
		return false, err
	}
	v, err := s.Do("CLIENT", "LIST")
	text, _ := v.(string)
	return strings.Count(text, " name="+composeClient+" ") == 1, err
}

// Name implements Testbed.
func (b *composeBed) Name() string { return KindCompose }

// Nodes implements Testbed.
func (b *composeBed) Nodes() []Node { return append([]Node(nil), b.nodes...) }

// Store implements Testbed.
func (b *composeBed) Store() Node { return b.store }

// Close gives the servers back.
func (b *composeBed) Close() error {
	b.claim.Close()
	return nil
}

// A composeNode is one server of docker-compose.yml.
type composeNode struct {
	externalNode
	upstream string
}

// Upstream implements Upstreamer.
func (n *composeNode) Upstream() string { return n.upstream }

// CanAdminister implements Administrable: a real server knows every command.
func (n *composeNode) CanAdminister(string) error { return nil }

// Administer implements Administrable.
func (n *composeNode) Administer(ctx context.Context, args ...string) (any, error) {
	n.vitals.noteCommand(args)
	return administer(ctx, n, args)
}
