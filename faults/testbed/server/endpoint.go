// Package server reaches a Redis server: where it listens, how to log in, how to
// ask it something, and what is wrong when that fails.
package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"
)

// An Endpoint is a server that somebody else runs: where it listens, and what it
// asks of those who connect.
type Endpoint struct {
	Network  string // "tcp", also when empty, or "unix"
	Addr     string // host:port, or the path of a socket
	Username string // empty: the default user
	Password string // never shown
	DB       int
	TLS      *tls.Config // nil: nothing is encrypted
}

// Plain are endpoints at addrs (host:port) that ask for nothing.
func Plain(addrs ...string) []Endpoint {
	var all []Endpoint
	for _, addr := range addrs {
		all = append(all, Endpoint{Addr: addr})
	}
	return all
}

// String names e without its password, as it can be given again: host:port where
// that is all, or else a URL.
func (e Endpoint) String() string {
	if e.Network == "unix" {
		u := url.URL{Scheme: "unix", Path: e.Addr, User: e.user()}
		if e.DB != 0 {
			u.RawQuery = "db=" + strconv.Itoa(e.DB)
		}
		return u.String()
	}
	if e.TLS == nil && e.Username == "" && e.DB == 0 {
		return e.Addr
	}
	u := url.URL{Scheme: "redis", Host: e.Addr, User: e.user()}
	if e.TLS != nil {
		u.Scheme = "rediss"
	}
	if e.DB != 0 {
		u.Path = "/" + strconv.Itoa(e.DB)
	}
	return u.String()
}

func (e Endpoint) user() *url.Userinfo {
	if e.Username == "" {
		return nil
	}
	return url.User(e.Username)
}

// Dial connects, and returns a connection that takes commands: encrypted where e
// says so, authenticated, and on e's database.
func (e Endpoint) Dial(ctx context.Context) (net.Conn, error) { return e.LoginBy(ctx, e.connect) }

// LoginBy is Dial over a connection that connect makes.
func (e Endpoint) LoginBy(ctx context.Context, connect func(context.Context) (net.Conn, error)) (net.Conn, error) {
	conn, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.Login(ctx, conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// connect is Dial without Login.
func (e Endpoint) connect(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	raw, err := d.DialContext(ctx, cmp.Or(e.Network, "tcp"), e.Addr)
	if err != nil || e.TLS == nil {
		return raw, err
	}
	encrypted := tls.Client(raw, e.TLS)
	ctx, cancel := context.WithTimeout(ctx, loginLimit)
	defer cancel()
	err = encrypted.HandshakeContext(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded): // a server without TLS waits for more of what it takes for a command
		err = fmt.Errorf("%w within %s: %w", errNoTLS, loginLimit, err)
	case err == nil:
		return encrypted, nil
	}
	_ = raw.Close()
	return nil, err
}

var errNoTLS = errors.New("no answer in TLS")

// ReachTimeout bounds all questions to one server.
const ReachTimeout = 10 * time.Second

// loginLimit bounds each step of a login where the context does not.
const loginLimit = 5 * time.Second

// Login makes a fresh connection to e, made by whatever way, ready for commands.
// It sends nothing where e asks for nothing.
func (e Endpoint) Login(ctx context.Context, conn net.Conn) error {
	var commands [][]string
	switch {
	case e.Username != "":
		commands = append(commands, []string{"AUTH", e.Username, e.Password})
	case e.Password != "":
		commands = append(commands, []string{"AUTH", e.Password})
	}
	if e.DB != 0 {
		commands = append(commands, []string{"SELECT", strconv.Itoa(e.DB)})
	}
	if len(commands) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, loginLimit)
	defer cancel()
	s := NewSession(ctx, conn)
	for _, c := range commands {
		if _, err := s.Do(c...); err != nil {
			s.stop()
			return err
		}
	}
	if !s.stop() {
		return fmt.Errorf("log in: %w", context.Cause(ctx))
	}
	return nil
}
