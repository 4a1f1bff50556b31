// Package ports chooses loopback ports for servers and links.
package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// A Range of ports, both ends included.
type Range struct{ First, Last int }

// The ranges lie below the ephemeral one, so that no outgoing connection can take
// a port while its server is down, or its proxy stopped.
var (
	Servers = Range{20000, 25999}
	Links   = Range{26000, 31999}
)

// Len is how many ports there are.
func (r Range) Len() int { return r.Last - r.First + 1 }

// Picker returns a Picker that begins somewhere in r, so that those who start at
// the same time seldom meet.
func (r Range) Picker() *Picker {
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(time.Now().UnixNano())))
	return r.From(r.First + rng.IntN(r.Len()))
}

// From returns a Picker that begins with port.
func (r Range) From(port int) *Picker { return &Picker{all: r, next: port} }

// A Picker walks through a range, round and round.
type Picker struct {
	all Range

	mu       sync.Mutex
	next     int
	reserved []func() error // what lets others have the ports again
}

// Next returns the next port, free or not.
func (p *Picker) Next() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	port := p.next
	if p.next++; p.next > p.all.Last {
		p.next = p.all.First
	}
	return port
}

// Free returns the next loopback port that is free at this moment, and keeps other processes of
// this program from it until Close: a server that is down leaves its port free.
func (p *Picker) Free() int {
	for {
		port := p.Next()
		release, err := Reserve(port)
		if err != nil {
			continue
		}
		if l, err := net.Listen("tcp", Loopback(port)); err == nil {
			_ = l.Close()
			p.mu.Lock()
			defer p.mu.Unlock()
			p.reserved = append(p.reserved, release)
			return port
		}
		_ = release()
	}
}

// Close lets others have the ports that Free has returned.
func (p *Picker) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, release := range p.reserved {
		errs = append(errs, release())
	}
	p.reserved = nil
	return errors.Join(errs...)
}

// Reserve keeps other processes of this program from a port until release is called, whoever
// listens there or does not: a server that is down, and a proxy that is stopped, leave their ports
// free for a while. The error is syscall.EADDRINUSE where another one has it. Where the system has no
// abstract sockets (they share the reach of ports: the network namespace), nothing is reserved.
func Reserve(port int) (release func() error, err error) {
	nothing := func() error { return nil }
	if runtime.GOOS != "linux" {
		return nothing, nil
	}
	c, err := net.ListenPacket("unixgram", fmt.Sprintf("@locktorture-port-%d", port))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("reserve port %d: %w", port, err)
	case err != nil: // no such sockets here
		return nothing, nil
	}
	return c.Close, nil
}

// Loopback is the address of a loopback port.
func Loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
