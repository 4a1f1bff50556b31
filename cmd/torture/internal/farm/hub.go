package farm

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// A Hub is a connection to a server of NATS with JetStream, and that server too where
// this process offers it.
type Hub struct {
	Conn   *nats.Conn
	server *server.Server
}

// OpenHub connects to the server at a. With a dir it starts that server first, in this
// process, with its streams below dir, which may take limit bytes; 0: most of the disk.
func OpenHub(a Access, dir string, limit int64, name string, say func(string)) (_ *Hub, err error) {
	h := &Hub{}
	defer func() {
		if err != nil {
			h.Close()
		}
	}()
	if dir != "" {
		if h.server, err = serve(dir, a, limit); err != nil {
			return nil, err
		}
	}
	urls, err := a.urls()
	if err != nil {
		return nil, err
	}
	options, err := a.options(name, say)
	if err != nil {
		return nil, err
	}
	if h.server != nil {
		options = append(options, nats.InProcessServer(h.server))
	}
	if h.Conn, err = nats.Connect(urls, options...); err != nil {
		return nil, fmt.Errorf("no NATS at %s: %s", a, hidden(err))
	}
	return h, nil
}

// Close ends the connection, and the server where it is this process's own.
func (h *Hub) Close() {
	if h.Conn != nil {
		h.Conn.Close()
	}
	if h.server != nil {
		h.server.Shutdown()
		h.server.WaitForShutdown()
	}
}
