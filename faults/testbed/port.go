package testbed

import (
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"time"
)

// Ports for servers lie below the ephemeral range, so that no outgoing
// connection can take one while its server is down.
const (
	firstPort = 20000
	lastPort  = 25999
)

// A portPicker walks the port range from a start of its own, so that testbeds
// started at the same time seldom meet.
type portPicker struct {
	mu   sync.Mutex
	next int
}

func newPortPicker() *portPicker {
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(time.Now().UnixNano())))
	return &portPicker{next: rng.IntN(lastPort - firstPort + 1)}
}

// pick returns a loopback port that is free at this moment and that it has not
// returned before in this round.
func (p *portPicker) pick() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		port := firstPort + p.next
		p.next = (p.next + 1) % (lastPort - firstPort + 1)
		if l, err := net.Listen("tcp", loopback(port)); err == nil {
			_ = l.Close()
			return port
		}
	}
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
