package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"locktorture/faults/internal/accept"
)

// A Relay stands between one client in another process and a Sentinel: what the
// Sentinel answers names the client's own links in place of the servers, and the other
// relays of that client in place of the other Sentinels.
type Relay struct {
	loop *accept.Loop
	to   string

	mu    sync.Mutex
	ports map[string]string // as the Sentinels name them → as the client shall reach them
}

// OpenRelay listens on loopback for a client of the Sentinel at addr.
func OpenRelay(ctx context.Context, addr string) (*Relay, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("relay to the Sentinel at %s: %w", addr, err)
	}
	r := &Relay{loop: accept.New(l), to: addr, ports: map[string]string{}}
	r.loop.Serve(func(near net.Conn) func() { return func() { r.join(near) } })
	return r, nil
}

// Addr is where the client finds the Sentinel.
func (r *Relay) Addr() string { return r.loop.Addr() }

// Close ends every connection, and returns when nothing of the relay runs any more.
func (r *Relay) Close() error { return r.loop.Close() }

// Name has answers that name one address (host:port) name another one on the same
// host.
func (r *Relay) Name(from, to string) error {
	host, port, err := net.SplitHostPort(from)
	if err != nil {
		return err
	}
	toHost, toPort, err := net.SplitHostPort(to)
	if err != nil {
		return err
	}
	if host != toHost {
		return fmt.Errorf("relay %s as %s: they are on different hosts", from, to)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ports[port] = toPort
	return nil
}

// join lets a client and the Sentinel talk until either has closed.
func (r *Relay) join(near net.Conn) {
	far, err := new(net.Dialer).DialContext(r.loop.Context(), "tcp", r.to)
	if err != nil {
		return
	}
	defer accept.Tie(r.loop.Context(), far)()
	var up sync.WaitGroup
	up.Go(func() {
		_, _ = io.Copy(far, near)
		_ = far.Close()
	})
	_ = r.answer(near, far)
	_, _ = near.Close(), far.Close()
	up.Wait()
}

// longest is how long a bulk string of a Sentinel may be: they are names, numbers and
// INFO.
const longest = 1 << 20

// answer copies what a Sentinel sends, in the Redis protocol, with other ports in its
// bulk strings. Of the structure around these nothing changes.
func (r *Relay) answer(to io.Writer, from io.Reader) error {
	in, out := bufio.NewReader(from), bufio.NewWriter(to)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		if n, convErr := strconv.Atoi(strings.TrimSpace(line[1:])); line[0] == '$' && convErr == nil && n >= 0 && n <= longest {
			body := make([]byte, n+len("\r\n"))
			if _, err := io.ReadFull(in, body); err != nil {
				return err
			}
			text := r.rename(string(body[:n]))
			line = fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
		}
		if _, err := out.WriteString(line); err != nil {
			return err
		}
		if in.Buffered() > 0 {
			continue
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

// portNumber is a number that stands alone, such as in "127.0.0.1:21000" or
// "torture 127.0.0.1 21000".
var portNumber = regexp.MustCompile(`\b[0-9]{4,5}\b`)

func (r *Relay) rename(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return portNumber.ReplaceAllStringFunc(text, func(port string) string {
		if other, known := r.ports[port]; known {
			return other
		}
		return port
	})
}
