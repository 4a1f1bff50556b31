package link

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	toxiclient "github.com/Shopify/toxiproxy/v2/client"

	"locktorture/faults/internal/ports"
)

// ErrOverlap means that an external toxiproxy cannot bear one more impairment
// in a direction: its stock toxics would let held bytes slip, or hang.
var ErrOverlap = errors.New("an external toxiproxy bears one impairment per direction of a link; the embedded one bears any number")

// A RemoteConfig describes the use of a toxiproxy server in another process.
type RemoteConfig struct {
	API       string // host:port of its HTTP interface
	RunID     string // names this run's proxies
	Bind      string // address on which its proxies listen; empty: 127.0.0.1. In a container: 0.0.0.0
	FirstPort int    // of the ports that they may listen on; a container must publish them. Zero: 26000
	LastPort  int    // zero: 31999
}

// remote drives a toxiproxy server in another process.
type remote struct {
	c      RemoteConfig
	client *toxiclient.Client

	picker *ports.Picker
}

// NewRemote returns a fabric of proxies in the toxiproxy server of c. They are
// named after the run, so that runs can share the server and Sweep can find
// what a killed one left behind.
//
// Its impairments are stock toxics. They differ from the embedded ones in this:
// a link bears one per direction at a time (a cut can always join); jitter is
// drawn once per impairment and direction, to the millisecond; the heal of a
// dropping kind closes every connection of the link; and impacts are judged from
// the client's end.
func NewRemote(c RemoteConfig) Fabric {
	return newFabric(newRemote(c))
}

func newRemote(c RemoteConfig) *remote {
	c.Bind = cmp.Or(c.Bind, "127.0.0.1")
	c.FirstPort = cmp.Or(c.FirstPort, ports.Links.First)
	c.LastPort = cmp.Or(c.LastPort, ports.Links.Last)
	all := ports.Range{First: c.FirstPort, Last: c.LastPort}
	return &remote{c: c, client: toxiclient.NewClient(c.API), picker: all.From(c.FirstPort)}
}

// OneAtATime reports whether the links of f refuse a second impairment: see
// ErrOverlap. Cuts aside, those of NewRemote do.
func OneAtATime(f Fabric) bool {
	all, ok := f.(*fabric)
	if !ok {
		return false
	}
	_, ok = all.backend.(*remote)
	return ok
}

// Sweep removes the proxies that the run of c left in its toxiproxy server, with
// their toxics, and returns their names. It touches no other proxy.
func Sweep(ctx context.Context, c RemoteConfig) ([]string, error) {
	var names []string
	err := guard(ctx, "sweep toxiproxy at "+c.API, func(ctx context.Context) (err error) {
		names, err = newRemote(c).removeAll(ctx)
		return err
	})
	return names, err
}

func (r *remote) prefix() string { return "locktorture." + r.c.RunID + "." }

// open implements backend.
func (r *remote) open(ctx context.Context, name, upstream string) (port, string, error) {
	var err error
	for range r.c.LastPort - r.c.FirstPort + 1 {
		number := strconv.Itoa(r.picker.Next())
		var p *toxiclient.Proxy
		p, err = r.client.CreateProxy(r.prefix()+name, net.JoinHostPort(r.c.Bind, number), upstream)
		if err == nil {
			return &remotePort{remote: r, name: p.Name}, net.JoinHostPort(hostOf(r.c.API), number), nil
		}
		// Only a port that cannot be listened on is the server's own failure.
		var answer *toxiclient.ApiError
		if !errors.As(err, &answer) || answer.Status != http.StatusInternalServerError || ctx.Err() != nil {
			break
		}
	}
	return nil, "", err
}

// hostOf returns the host of an HTTP interface.
func hostOf(api string) string {
	if u, err := url.Parse(api); err == nil && u.Host != "" {
		api = u.Host
	}
	if host, _, err := net.SplitHostPort(api); err == nil && host != "" {
		return host
	}
	return "127.0.0.1"
}

// close implements backend.
func (r *remote) close(ctx context.Context) error {
	_, err := r.removeAll(ctx)
	return err
}

// removeAll removes this run's proxies.
func (r *remote) removeAll(ctx context.Context) (names []string, err error) {
	all, err := r.client.Proxies()
	if err != nil {
		return nil, err
	}
	for name, p := range all {
		if !strings.HasPrefix(name, r.prefix()) {
			continue
		}
		if ctx.Err() != nil {
			return names, ctx.Err()
		}
		if err := removeProxy(p); err != nil {
			return names, fmt.Errorf("remove proxy %s: %w", name, err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// removeProxy takes the toxics off first: a stopped proxy would keep their
// goroutines.
func removeProxy(p *toxiclient.Proxy) error {
	for _, t := range p.ActiveToxics {
		if err := p.RemoveToxic(t.Name); err != nil {
			return err
		}
	}
	return p.Delete()
}

// remotePort is one proxy of a remote.
type remotePort struct {
	remote *remote
	name   string

	mu sync.Mutex
}

// add implements port.
func (p *remotePort) add(_ context.Context, s toxicSpec) error {
	if s.effect.spares() {
		return fmt.Errorf("%s: the toxics of a toxiproxy server act on all connections of a link; the links of this process can tell them apart", s.effect.impair.Kind)
	}
	if err := CheckStock(s.effect.impair); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	proxy, err := p.remote.client.Proxy(p.name)
	if err != nil {
		return err
	}
	for _, t := range proxy.ActiveToxics {
		if t.Stream == string(s.toward) {
			return fmt.Errorf("%w: it has %s", ErrOverlap, t.Name)
		}
	}
	s.effect.blind = true
	kind, toxic := stock(s.effect)
	told, err := attributes(toxic)
	if err != nil {
		return err
	}
	_, err = proxy.AddToxic(s.name, kind, string(s.toward), 1, told)
	return err
}

// remove implements port.
func (p *remotePort) remove(_ context.Context, s toxicSpec) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	proxy, err := p.remote.client.Proxy(p.name)
	if err != nil {
		return err
	}
	for _, t := range proxy.ActiveToxics {
		if t.Name == s.name {
			return proxy.RemoveToxic(s.name)
		}
	}
	return nil
}

// enable implements port.
func (p *remotePort) enable(_ context.Context, on bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	proxy, err := p.remote.client.Proxy(p.name)
	if err != nil || proxy.Enabled == on {
		return err
	}
	if on {
		return proxy.Enable()
	}
	return proxy.Disable()
}

// state implements port.
func (p *remotePort) state(context.Context) (portState, error) {
	proxy, err := p.remote.client.Proxy(p.name)
	if err != nil {
		return portState{}, err
	}
	s := portState{enabled: proxy.Enabled, toxics: map[string]bool{}}
	for _, t := range proxy.ActiveToxics {
		s.toxics[t.Name] = true
	}
	return s, nil
}

// drawOnce draws the delay of a whole impairment.
func (e *effect) drawOnce() time.Duration { return e.impair.delay(e.stream()) }
