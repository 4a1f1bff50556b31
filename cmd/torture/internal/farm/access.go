package farm

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"locktorture/workload/history/printable"
)

// TokenVariable, in the environment, is the token that a server of NATS asks for,
// where its URL has neither token nor user.
const TokenVariable = "TORTURE_NATS_TOKEN"

// defaultPort is NATS's.
const defaultPort = "4222"

// An Access says where a server of NATS is and how it is spoken to. What is secret in
// it is shown to nobody: String leaves it out.
type Access struct {
	URL         string // nats:// or tls://, several with commas; with user:password@ or token@
	Credentials string // file that a server's operator hands out
	CA          string // file: who may have signed certificates
	Cert, Key   string // files: our own certificate
}

// String is the address alone.
func (a Access) String() string { return printable.HideUserinfo(a.URL) }

// parsed are the URLs, each complete.
func (a Access) parsed() (all []*url.URL, err error) {
	for text := range strings.SplitSeq(a.URL, ",") {
		text = strings.TrimSpace(text)
		u, err := url.Parse(text)
		switch {
		case err != nil: // which would repeat the password
			return nil, fmt.Errorf("%q is no URL such as nats://host:4222", printable.HideUserinfo(text))
		case !slices.Contains([]string{"nats", "tls"}, u.Scheme) || u.Hostname() == "":
			return nil, fmt.Errorf("%q: want nats://host:4222 or tls://host:4222", printable.HideUserinfo(text))
		case u.Path != "" || u.RawQuery != "":
			return nil, fmt.Errorf("%q: nothing may follow the port", printable.HideUserinfo(text))
		}
		if n, err := strconv.Atoi(cmp.Or(u.Port(), defaultPort)); err != nil || n < 1 || n > 65535 {
			return nil, fmt.Errorf("%q: a port is 1 to 65535", printable.HideUserinfo(text))
		}
		u.Host = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), defaultPort))
		all = append(all, u)
	}
	return all, nil
}

// Validate names what cannot work, before anything is dialled.
func (a Access) Validate() error {
	if _, err := a.parsed(); err != nil {
		return err
	}
	if (a.Cert == "") != (a.Key == "") {
		return errors.New("--nats-cert and --nats-key: a certificate and its key go together")
	}
	for _, f := range []struct{ flag, file string }{
		{"--nats-creds", a.Credentials}, {"--nats-ca", a.CA}, {"--nats-cert", a.Cert}, {"--nats-key", a.Key},
	} {
		if f.file == "" {
			continue
		}
		if _, err := os.Stat(f.file); err != nil {
			return fmt.Errorf("%s: %w", f.flag, err)
		}
	}
	return nil
}

// options are how the server is spoken to. A connection that is lost is dialled again
// for ever.
func (a Access) options(name string, say func(string)) ([]nats.Option, error) {
	options := []nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond), nats.Timeout(5 * time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				say("NATS is away: " + hidden(err))
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { say("NATS is back") }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // what matters comes back from the calls
	}
	if a.Credentials != "" {
		options = append(options, nats.UserCredentials(a.Credentials))
	}
	if token := os.Getenv(TokenVariable); token != "" && !strings.Contains(a.URL, "@") {
		options = append(options, nats.Token(token))
	}
	config, err := a.tls()
	if err != nil {
		return nil, err
	}
	if config != nil {
		options = append(options, nats.Secure(config))
	}
	return options, nil
}

// tls is how the connection is encrypted; nil: as the URL says.
func (a Access) tls() (*tls.Config, error) {
	if a.CA == "" && a.Cert == "" && !strings.HasPrefix(a.URL, "tls://") {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.CA != "" {
		pem, err := os.ReadFile(a.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate in PEM", a.CA)
		}
	}
	if a.Cert != "" {
		pair, err := tls.LoadX509KeyPair(a.Cert, a.Key)
		if err != nil {
			return nil, fmt.Errorf("certificate %s: %w", a.Cert, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// urls are what is dialled.
func (a Access) urls() (string, error) {
	all, err := a.parsed()
	if err != nil {
		return "", err
	}
	words := make([]string, len(all))
	for i, u := range all {
		words[i] = u.String()
	}
	return strings.Join(words, ","), nil
}

// hidden is an error in one line without users and passwords.
func hidden(err error) string {
	return printable.HideUserinfo(strings.Join(strings.Fields(err.Error()), " "))
}
