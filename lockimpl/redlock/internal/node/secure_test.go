package node

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl/internal/memnet"
)

// shakes returns a link to a server of TLS called n1, and what trusts it.
func shakes(t *testing.T, serve func(c *tls.Conn)) (*memnet.Link, *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"n1"}, NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	known, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(known)
	own := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	return memnet.New(func(c net.Conn) { go serve(tls.Server(c, own)) }), &tls.Config{RootCAs: roots}
}

// A handshake may take two exchanges, each of nearly the whole timeout, and leaves no deadline
// behind.
func TestHandshakeMayTakeTwoExchanges(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		synctest.Test(t, func(t *testing.T) {
			link, trust := shakes(t, func(c *tls.Conn) {
				defer c.Close()
				if c.Handshake() == nil {
					time.Sleep(time.Minute)
					_, _ = c.Write([]byte("late"))
				}
			})
			trust.MaxVersion = version
			const timeout = time.Second
			link.Up.Delay(timeout / 2)
			link.Down.Delay(timeout/2 - time.Millisecond)
			raw, _ := link.Dial(t.Context(), "", "")
			c, err := secure(t.Context(), raw, named(trust, "n1:6379"), timeout)
			if err != nil {
				t.Fatalf("version %x: %v", version, err)
			}
			defer c.Close()
			if _, err := c.Read(make([]byte, 4)); err != nil {
				t.Errorf("read a minute after the handshake: %v", err)
			}
		})
	}
}

// A server that says nothing is given up at its first silence, one that never stops at the end
// of the handshake's time, and every one when the context ends.
func TestHandshakeEnds(t *testing.T) {
	const timeout = time.Second
	for name, c := range map[string]struct {
		serve  func(c net.Conn)
		cancel time.Duration
		want   time.Duration
		err    error
	}{
		"silent": {func(net.Conn) {}, time.Hour, timeout, os.ErrDeadlineExceeded},
		"a byte at a time": {func(c net.Conn) {
			for _, err := c.Write([]byte{22, 3, 3, 64, 0}); err == nil; _, err = c.Write([]byte{0}) {
				time.Sleep(timeout / 8)
			}
		}, time.Hour, handshake * timeout, context.DeadlineExceeded},
		"cancelled": {func(net.Conn) {}, timeout / 2, timeout / 2, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(c.cancel, cancel)
				defer cancel()
				var server sync.WaitGroup
				defer server.Wait()
				link := memnet.New(func(s net.Conn) { server.Go(func() { c.serve(s) }) })
				raw, _ := link.Dial(ctx, "", "")
				began := time.Now()
				_, err := secure(ctx, raw, &tls.Config{ServerName: "n1"}, timeout)
				if took := time.Since(began); took != c.want || !errors.Is(err, c.err) {
					t.Errorf("ended after %v with %v, want %v and %v", took, err, c.want, c.err)
				}
				if _, err := raw.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
					t.Errorf("the connection is left open: %v", err)
				}
			})
		})
	}
}

// Close does not wait for a handshake.
func TestCloseEndsAHandshake(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	n := New(Config{Name: "n1", Timeout: time.Hour, Options: &redis.Options{Addr: ln.Addr().String(), TLSConfig: &tls.Config{ServerName: "n1"}}})
	go func() { _, _ = n.Do(context.Background(), func(w *Writer) { w.Str("ping") }) }()
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Read(make([]byte, 1)); err != nil { // the handshake has begun
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- n.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("Close waits for a server that says nothing")
	}
}

// A configuration that names no server checks the certificate for the host of the address.
func TestServerIsNamedByItsAddress(t *testing.T) {
	for addr, want := range map[string]string{"redis.example:6379": "redis.example", "redis.example": "redis.example"} {
		given := &tls.Config{}
		if got := named(given, addr); got.ServerName != want || given.ServerName != "" {
			t.Errorf("%s: named %q", addr, got.ServerName)
		}
	}
	if got := named(&tls.Config{ServerName: "own"}, "redis.example:6379"); got.ServerName != "own" {
		t.Errorf("a name of its own became %q", got.ServerName)
	}
}
