package redistest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/wiring"
	"locktorture/faults/testbed/server"
)

// ServerName is what the certificates of Certificates are for.
const ServerName = "redis.test"

// A Certificate is a pair of PEM files.
type Certificate struct{ Cert, Key string }

// Certificates are an authority and what it has signed: for servers, called
// ServerName, and for a client, each also as it looks after its end.
type Certificates struct {
	Authority                                    string
	Server, ExpiredServer, Client, ExpiredClient Certificate
}

// NewCertificates makes certificates for a test.
func NewCertificates(t testing.TB) Certificates {
	t.Helper()
	dir := t.TempDir()
	key := newKey(t)
	now := time.Now()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: now.Add(-48 * time.Hour), NotAfter: now.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	signed := func(name string, what *x509.Certificate, parent *x509.Certificate, own *ecdsa.PrivateKey) Certificate {
		der, err := x509.CreateCertificate(rand.Reader, what, parent, &own.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		secret, err := x509.MarshalPKCS8PrivateKey(own)
		if err != nil {
			t.Fatal(err)
		}
		c := Certificate{filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")}
		write(t, c.Cert, "CERTIFICATE", der)
		write(t, c.Key, "PRIVATE KEY", secret)
		return c
	}
	c := Certificates{Authority: signed("authority", authority, authority, key).Cert}
	leaf := func(name string, usage x509.ExtKeyUsage, end time.Time) Certificate {
		return signed(name, &x509.Certificate{
			SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-24 * time.Hour), NotAfter: end,
			DNSNames: []string{ServerName}, ExtKeyUsage: []x509.ExtKeyUsage{usage}, KeyUsage: x509.KeyUsageDigitalSignature,
		}, authority, newKey(t))
	}
	c.Server = leaf("server", x509.ExtKeyUsageServerAuth, now.Add(time.Hour))
	c.ExpiredServer = leaf("expired-server", x509.ExtKeyUsageServerAuth, now.Add(-time.Hour))
	c.Client = leaf("client", x509.ExtKeyUsageClientAuth, now.Add(time.Hour))
	c.ExpiredClient = leaf("expired-client", x509.ExtKeyUsageClientAuth, now.Add(-time.Hour))
	return c
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func write(t testing.TB, path, kind string, der []byte) {
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TLS are the arguments of a server at port that speaks TLS alone, and lets in
// whom c's authority has signed.
func (c Certificates) TLS(port string, own Certificate) []string {
	return []string{
		"--port", "0", "--tls-port", port, "--tls-cert-file", own.Cert, "--tls-key-file", own.Key,
		"--tls-ca-cert-file", c.Authority, "--tls-auth-clients", "yes",
	}
}

// Password returns a password that is this test's alone: tests beside one another
// look for theirs in the list of processes.
func Password(t testing.TB) string {
	t.Helper()
	return "correct-horse-" + strings.ToLower(rand.Text())
}

// ACL are the arguments of a server that knows one user alone, who may do
// everything. The password is in no command line.
func ACL(t testing.TB, user, password string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(file, []byte("user "+user+" on >"+password+" ~* &* +@all\nuser default off\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--aclfile", file}
}

// Ports below those that testbeds and outgoing connections take.
const lowPort, highPort = 12000, 19999

var portsGiven atomic.Int64

// FreePort returns a port that nobody listens on at the moment, to each caller another
// one.
func FreePort(t testing.TB) string {
	t.Helper()
	for range highPort - lowPort {
		n := int64(os.Getpid())*61 + portsGiven.Add(1) // each process begins elsewhere
		port := strconv.FormatInt(lowPort+n%(highPort-lowPort), 10)
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// Serve runs a redis-server with the arguments, of which the first may be its
// configuration, until the test ends. It returns when something listens at network and addr.
func Serve(t testing.TB, network, addr string, args ...string) {
	t.Helper()
	RequireServer(t)
	log := filepath.Join(t.TempDir(), "log")
	args = append(args, "--save", "", "--appendonly", "no", "--dir", t.TempDir(), "--bind", "127.0.0.1", "--logfile", log)
	server := exec.Command("redis-server", args...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var d net.Dialer
	for {
		c, err := d.DialContext(ctx, network, addr)
		if err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-ctx.Done():
			said, _ := os.ReadFile(log)
			t.Fatalf("redis-server %v does not listen on %s: %v\n%s", args, addr, err, said)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// KeysAt lists the keys on the server at e.
func KeysAt(t testing.TB, e server.Endpoint) []string {
	t.Helper()
	a := wiring.AdminAt(e)
	defer func() { _ = a.Close() }()
	keys, err := a.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
