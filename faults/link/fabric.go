package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// changeWait is the watchdog on every change to a proxy: a change that takes
// longer has hung.
const changeWait = 5 * time.Second

// A backend runs proxies.
type backend interface {
	open(ctx context.Context, name, upstream string) (p port, addr string, err error)
	close(ctx context.Context) error
}

// A port is one proxy of a backend. Some know what becomes of each command: see
// progress.
type port interface {
	add(ctx context.Context, s toxicSpec) error
	remove(ctx context.Context, s toxicSpec) error // what it held is passed on; nil when it is gone already
	enable(ctx context.Context, on bool) error
	state(ctx context.Context) (portState, error)
}

// A toxicSpec says how to put an effect on a port.
type toxicSpec struct {
	name   string
	toward Direction
	effect *effect
}

// A portState is what a port says about itself.
type portState struct {
	enabled bool
	toxics  map[string]bool
}

// A fabric implements Fabric over any backend.
type fabric struct {
	backend backend

	mu     sync.Mutex
	links  []*proxyLink
	closed bool
}

func newFabric(b backend) *fabric { return &fabric{backend: b} }

// Open implements Fabric.
func (f *fabric) Open(ctx context.Context, client, node, upstream string) (Link, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, fmt.Errorf("open link %s→%s: %w", client, node, net.ErrClosed)
	}
	l := &proxyLink{client: client, node: node, inForce: map[*applied]struct{}{}, conns: map[*conn]struct{}{}}
	err := l.change(ctx, "open", func(ctx context.Context) (err error) {
		l.port, l.addr, err = f.backend.open(ctx, proxyName(client, node), upstream)
		return err
	})
	if err != nil {
		return nil, err
	}
	f.links = append(f.links, l)
	return l, nil
}

// proxyName is fit for a URL's path.
func proxyName(client, node string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		}
		return '_'
	}, client) + "." + node
}

// Reset implements Fabric.
func (f *fabric) Reset(ctx context.Context) error {
	f.mu.Lock()
	links := append([]*proxyLink(nil), f.links...)
	f.mu.Unlock()
	errs := make([]error, len(links))
	var wg sync.WaitGroup
	for i, l := range links {
		wg.Go(func() { errs[i] = l.reset(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Close implements Fabric. It closes the connections that are still open.
func (f *fabric) Close() error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil
	}
	f.closed = true
	links := f.links
	f.mu.Unlock()
	ctx := context.Background()
	err := f.Reset(ctx)
	for _, l := range links {
		err = errors.Join(err, l.close(ctx))
	}
	return errors.Join(err, guard(ctx, "close links", f.backend.close))
}

// guard runs one change under the watchdog. A change that hangs goes on hanging
// in its goroutine: there is no way to end it.
func guard(ctx context.Context, what string, change func(context.Context) error) error {
	watched, cancel := context.WithTimeout(ctx, changeWait)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- change(watched) }()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	case <-watched.Done():
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", what, ctx.Err())
		}
		return fmt.Errorf("%s: toxiproxy hangs for %s: %w", what, changeWait, watched.Err())
	}
}
