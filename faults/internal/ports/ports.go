// Package ports chooses loopback ports for servers and links.
package ports

import (
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
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

	mu   sync.Mutex
	next int
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

// Free returns the next loopback port that is free at this moment.
func (p *Picker) Free() int {
	for {
		port := p.Next()
		if l, err := net.Listen("tcp", Loopback(port)); err == nil {
			_ = l.Close()
			return port
		}
	}
}

// Loopback is the address of a loopback port.
func Loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
