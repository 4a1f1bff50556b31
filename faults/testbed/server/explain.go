package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// An Error is trouble with a given server that was named rightly: its
// certificate has expired, or it is not ready. Any other error of a testbed of given servers
// is mended by giving something else.
type Error struct{ Err error }

func (e Error) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e Error) Unwrap() error { return e.Err }

// Explain says what err means that e answered with, and what would be right.
func (e Endpoint) Explain(err error) error {
	var said ReplyError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said):
		return e.explainReply(err, string(said))
	}
	if known := e.explainTLS(err); known != nil {
		return known
	}
	var unnamed *net.DNSError
	switch {
	case errors.As(err, &unnamed) && unnamed.IsNotFound:
		return fmt.Errorf("%w: give a name that resolves, or an address", err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%w: give a server that this user may reach (of a socket: its setting unixsocketperm)", err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return Error{fmt.Errorf("no answer within %s: %w", ReachTimeout, err)}
	case e.Network == "unix" && errors.Is(err, syscall.ENOENT):
		return fmt.Errorf("%w: give the path that the server's setting unixsocket names", err)
	case e.Network != "unix" && errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: no server listens there: start it, or give the address where it does", err)
	case e.Network == "unix" && errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("no server listens at that socket: give the path that the server's setting unixsocket names")
	case !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE):
		return err
	case e.TLS == nil:
		return errors.New("closed the connection instead of answering: if that port speaks TLS, say rediss://")
	case len(e.TLS.Certificates) == 0: // its reason, sent after our side of the handshake, may be lost with the connection
		return errors.New("closed the connection after the handshake, as a server that asks for a client's certificate does: --tls-cert FILE --tls-key FILE")
	}
	return errors.New("closed the connection after the handshake, as a server that does not accept the client's certificate does: give another one, --tls-cert FILE --tls-key FILE")
}

// explainReply explains an error that the server itself answered with.
func (e Endpoint) explainReply(err error, said string) error {
	user := e.Username
	if user == "" {
		user = "default"
	}
	code, _, _ := strings.Cut(said, " ")
	switch {
	case code == "WRONGPASS" || strings.Contains(said, "invalid password"):
		return fmt.Errorf("the password is not user %q's, or there is no such user: mend TORTURE_REDIS_PASSWORD, --redis-password-file or the URL", user)
	case code == "NOAUTH":
		return errors.New("asks for a password: give TORTURE_REDIS_PASSWORD, --redis-password-file, or redis://USER:PASSWORD@…")
	case strings.Contains(said, "without any password configured"):
		return errors.New("asks for no password, and was given one: leave it out")
	case code == "NOPERM":
		return fmt.Errorf("user %q may not do what a run has to (%s): ACL SETUSER %s +@all ~* &*, or give another user", user, said, user)
	case strings.HasPrefix(said, "ERR unknown command"):
		return Error{fmt.Errorf("lacks a command that a run has to send (%s): undo its rename-command, or give another server", strings.TrimSpace(said))}
	case strings.Contains(said, "DB index is out of range"):
		return fmt.Errorf("has no database %d: give a lower one (its setting databases says how many there are)", e.DB)
	case strings.Contains(said, "SELECT is not allowed in cluster mode"):
		return ErrCluster
	case code == "OOM", code == "MISCONF", code == "NOREPLICAS":
		return Error{fmt.Errorf("takes no writes (%s): mend that, or give another server", said)}
	case code == "LOADING", code == "BUSY", code == "DENIED", code == "MASTERDOWN":
		return Error{err}
	}
	return err
}

var ErrCluster = errors.New("part of a Redis Cluster: independent masters are needed (cluster-enabled no)")

// explainTLS explains what goes wrong between two that encrypt; nil is something
// else. What the server says of our certificate comes as an alert, whose type
// crypto/tls keeps to itself.
func (e Endpoint) explainTLS(err error) error {
	var notTLS tls.RecordHeaderError
	var invalid x509.CertificateInvalidError
	var unknown x509.UnknownAuthorityError
	var misnamed x509.HostnameError
	var remote *net.OpError
	switch {
	case errors.As(err, &notTLS), errors.Is(err, errNoTLS):
		return errors.New("speaks no TLS at that port: give its TLS port, or say redis://")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return Error{fmt.Errorf("its certificate is not valid now (%s to %s): the server needs a new one",
			invalid.Cert.NotBefore.UTC().Format(time.DateTime), invalid.Cert.NotAfter.UTC().Format(time.DateTime))}
	case errors.As(err, &unknown):
		return errors.New("its certificate is signed by nobody who is trusted here: give the authority's certificate, --tls-ca FILE")
	case errors.As(err, &misnamed):
		return fmt.Errorf("its certificate is for %s, and %s was asked for: --tls-server-name says what to ask for",
			strings.Join(append(misnamed.Certificate.DNSNames, addresses(misnamed.Certificate)...), ", "), misnamed.Host)
	case errors.As(err, &remote) && remote.Op == "remote error":
		what := remote.Err.Error()
		switch {
		case strings.Contains(what, "certificate required"), len(e.TLS.Certificates) == 0:
			return fmt.Errorf("asks for a client's certificate (%s): --tls-cert FILE --tls-key FILE", what)
		}
		return fmt.Errorf("does not accept the client's certificate (%s): give another one, --tls-cert FILE --tls-key FILE", what)
	}
	return nil
}

func addresses(c *x509.Certificate) (all []string) {
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	return all
}
