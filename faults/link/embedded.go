package link

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"locktorture/faults/internal/ports"
	"locktorture/faults/link/internal/socket"
)

// EmbeddedLimit is how many links one fabric of this process can have: each
// listens on a port of its own.
func EmbeddedLimit() int { return ports.Links.Len() }

// embedded is a toxiproxy inside this process, driven without HTTP.
type embedded struct {
	server *toxiproxy.ApiServer

	picker *ports.Picker
	pacing *pacing // nil: messages are as quick as they are

	mu    sync.Mutex
	ports []*embeddedPort
}

// NewEmbedded returns a fabric of proxies inside this process.
func NewEmbedded() Fabric { return newFabric(newEmbedded()) }

func newEmbedded() *embedded {
	register()
	return &embedded{
		server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
		picker: ports.Links.Picker(),
	}
}

// open implements backend.
func (e *embedded) open(_ context.Context, name, upstream string) (port, string, error) {
	var err error
	for range ports.Links.Len() {
		number := e.picker.Next()
		var reserved func() error
		if reserved, err = ports.Reserve(number); err != nil {
			continue // another process has a link there
		}
		p := toxiproxy.NewProxy(e.server, name, ports.Loopback(number), upstream)
		opened := &embeddedPort{proxy: p, reserved: reserved}
		if err := opened.install(); err != nil {
			return nil, "", errors.Join(err, reserved())
		}
		if err = socket.ListenPlainly(func() error { return e.server.Collection.Add(p, true) }); err == nil {
			e.mu.Lock()
			defer e.mu.Unlock()
			if e.pacing != nil {
				e.pacing.lay(name, uint64(len(e.ports)), &opened.directionPort)
			}
			e.ports = append(e.ports, opened)
			return opened, p.Listen, nil
		}
		opened.uninstall()
		if failed := reserved(); failed != nil {
			return nil, "", errors.Join(err, failed)
		}
		if errors.Is(err, toxiproxy.ErrProxyAlreadyExists) {
			break
		}
	}
	return nil, "", err
}

// close implements backend.
func (e *embedded) close(context.Context) error {
	err := e.server.Collection.Clear()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.ports {
		p.uninstall()
		err = errors.Join(err, p.letGo(), p.reserved())
	}
	e.ports = nil
	return err
}

// embeddedPort is one proxy and its two directions.
type embeddedPort struct {
	directionPort
	proxy    *toxiproxy.Proxy
	numbers  []uint64     // of the directions
	reserved func() error // lets other processes have links on the port
	held     func() error // gives up the port of a stopped proxy; nil while it runs
	silent   bool         // dials are to stay unanswered
	answer   func() error // lets them be answered again; nil while they are
}

// install puts the toxics into both directions, before the proxy has any connection.
func (p *embeddedPort) install() error {
	up, upward := newDirection(nil)
	down, downward := newDirection(upward)
	p.directions.up, p.directions.down = upward, downward
	p.numbers = []uint64{up, down}
	for i, toward := range []Direction{Up, Down} {
		b, err := json.Marshal(map[string]any{
			"name": "effects-" + toward, "type": toxicType, "stream": toward, "toxicity": 1, "attributes": toxic{Direction: p.numbers[i]},
		})
		if err == nil {
			_, err = p.proxy.Toxics.AddToxicJson(bytes.NewReader(b))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// uninstall ends every connection of a stopped proxy and forgets its directions.
func (p *embeddedPort) uninstall() {
	p.sever()
	for _, number := range p.numbers {
		directions.Delete(number)
	}
}

// add implements port. What a stock toxic does faithfully is left to it.
func (p *embeddedPort) add(ctx context.Context, s toxicSpec) error {
	s.effect.stock = s.effect.faithful()
	return p.directionPort.add(ctx, s)
}

// enable implements port. Stopping the proxy destroys what its connections
// hold, and keeps its port: clients of a link that is cut must not find
// another process's server there.
func (p *embeddedPort) enable(_ context.Context, on bool) error {
	if !on {
		return p.stop()
	}
	if err := p.letGo(); err != nil {
		return err
	}
	start := func() error { return socket.ListenPlainly(p.proxy.Start) }
	if err := socket.Patiently(start); err != nil && !errors.Is(err, toxiproxy.ErrProxyAlreadyStarted) {
		return fmt.Errorf("listen: %w", err)
	}
	if p.silent { // so is the listener that has just come
		return p.silence(true)
	}
	return nil
}

// silence implements silencer. A stopped proxy refuses dials, and leaves them
// unanswered once it runs again.
func (p *embeddedPort) silence(on bool) (err error) {
	p.silent = on
	if !on {
		return p.answerAgain()
	}
	if !p.proxy.Enabled {
		return nil
	}
	p.answer, err = socket.DropDials(p.proxy.Listen)
	return err
}

// answerAgain ends a silence.
func (p *embeddedPort) answerAgain() error {
	if p.answer == nil {
		return nil
	}
	if err := p.answer(); err != nil {
		return err
	}
	p.answer = nil
	return nil
}

func (p *embeddedPort) stop() (err error) {
	p.proxy.Stop()
	p.sever()
	if p.held == nil {
		p.held, err = socket.Hold(p.proxy.Listen)
	}
	if err != nil {
		return fmt.Errorf("keep port %s: %w", p.proxy.Listen, err)
	}
	return nil
}

// letGo gives up the port that stop has kept.
func (p *embeddedPort) letGo() error {
	if p.held == nil {
		return nil
	}
	release := p.held
	p.held = nil
	return release()
}

// state implements port.
func (p *embeddedPort) state(context.Context) (portState, error) {
	p.proxy.Lock()
	defer p.proxy.Unlock()
	return portState{enabled: p.proxy.Enabled, toxics: p.names()}, nil
}
