package farm

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// serveLimit bounds the start of the coordinator's own server.
const serveLimit = 30 * time.Second

// maxPayload is how large a task or a result may be, in bytes.
const maxPayload = 8 << 20

// serve starts a server of NATS with JetStream in this process, at a's address, whose
// streams lie in dir. Who connects must show the user, password or token of a's URL, or
// the token of TokenVariable; where there is neither, anybody may.
func serve(dir string, a Access, limit int64) (*server.Server, error) {
	urls, err := a.parsed()
	if err != nil {
		return nil, err
	}
	if len(urls) != 1 {
		return nil, fmt.Errorf("%s: a farm is offered at one address", a)
	}
	u := urls[0]
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return nil, err
	}
	free, err := net.Listen("tcp", u.Host) // the server itself would end the process
	if err != nil {
		return nil, fmt.Errorf("offer a farm at %s: %w; --nats uses a server that is there already", a, err)
	}
	if err := free.Close(); err != nil {
		return nil, err
	}
	o := &server.Options{
		ServerName: "torture", Host: u.Hostname(), Port: port, JetStream: true, StoreDir: dir, JetStreamMaxStore: limit,
		NoLog: true, NoSigs: true, MaxPayload: maxPayload, DisableJetStreamBanner: true,
	}
	switch password, hasPassword := u.User.Password(); {
	case hasPassword:
		o.Username, o.Password = u.User.Username(), password
	case u.User != nil:
		o.Authorization = u.User.Username()
	default:
		o.Authorization = os.Getenv(TokenVariable)
	}
	if u.Scheme == "tls" {
		if a.Cert == "" {
			return nil, errors.New("a farm at tls:// needs a certificate and its key")
		}
		config, err := a.tls()
		if err != nil {
			return nil, err
		}
		if config.ClientCAs = config.RootCAs; config.ClientCAs != nil {
			config.ClientAuth = tls.RequireAndVerifyClientCert
		}
		o.TLS, o.TLSConfig, o.TLSTimeout = true, config, 5
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("offer a farm at %s: %w", a, err)
	}
	go s.Start() // returns once the server listens; Shutdown ends what it started
	if !s.ReadyForConnections(serveLimit) || !s.JetStreamEnabled() {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("offer a farm at %s: its server was not ready after %v, or cannot keep streams in %s", a, serveLimit, dir)
	}
	return s, nil
}

// IsOpen reports whether a farm at a would be open to anybody who reaches its address,
// from other machines too.
func (a Access) IsOpen() bool {
	urls, err := a.parsed()
	if err != nil || len(urls) != 1 {
		return false
	}
	ip := net.ParseIP(urls[0].Hostname())
	local := urls[0].Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	return !local && urls[0].User == nil && os.Getenv(TokenVariable) == "" && a.CA == ""
}
