package config

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"locktorture/faults/testbed/server"
)

// PasswordVariable holds the password of the given servers whose URLs have none.
const PasswordVariable = "TORTURE_REDIS_PASSWORD"

// secrets are what a Config knows and never shows.
type secrets struct {
	Default string            `json:"default,omitempty"` // PasswordVariable's
	Of      map[string]string `json:"of,omitempty"`      // by server, as it is written without its password
}

// Secrets are c's passwords in a form that another process of this program can
// take; empty when there are none. They are to be kept from everybody else.
func (c *Config) Secrets() string {
	if c.secrets.Default == "" && len(c.secrets.Of) == 0 {
		return ""
	}
	text, _ := json.Marshal(c.secrets) // texts alone
	return string(text)
}

// SetSecrets sets the secrets that Secrets returned.
func (c *Config) SetSecrets(text string) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), &c.secrets)
}

// ReadPassword takes the password of PasswordVariable.
func (c *Config) ReadPassword(environ []string) {
	for _, entry := range environ {
		if value, is := strings.CutPrefix(entry, PasswordVariable+"="); is {
			c.secrets.Default = value
		}
	}
}

// hidePasswords moves the passwords out of the servers' URLs. What cannot be read
// is left for Validate to refuse.
func (c *Config) hidePasswords() {
	hide := func(text string) string {
		e, err := parseServer("", text)
		if err != nil || !strings.Contains(text, "://") {
			return text
		}
		clean := e.String()
		if e.Password != "" {
			if c.secrets.Of == nil {
				c.secrets.Of = map[string]string{}
			}
			c.secrets.Of[clean] = e.Password
		}
		return clean
	}
	for i, text := range c.Redis {
		c.Redis[i] = hide(text)
	}
	c.Store = hide(c.Store)
}

// Servers are the given masters and the store's server; nil is the first
// master's. It reads the files that c names.
func (c *Config) Servers() (masters []server.Endpoint, store *server.Endpoint, err error) {
	password, err := c.password()
	if err != nil {
		return nil, nil, err
	}
	encrypted, err := c.tlsConfig()
	if err != nil {
		return nil, nil, err
	}
	complete := func(key, text string) (server.Endpoint, error) {
		e, err := parseServer(c.At(key), text)
		if err != nil {
			return e, err
		}
		e.Password = cmp.Or(e.Password, c.secrets.Of[e.String()], password)
		if e.TLS != nil {
			e.TLS = encrypted.Clone()
			host, _, _ := net.SplitHostPort(e.Addr)
			e.TLS.ServerName = cmp.Or(c.TLSServerName, host)
		}
		return e, nil
	}
	for _, text := range c.Redis {
		e, err := complete("redis", text)
		if err != nil {
			return nil, nil, err
		}
		masters = append(masters, e)
	}
	if c.Store != "" {
		e, err := complete("store", c.Store)
		if err != nil {
			return nil, nil, err
		}
		store = &e
	}
	return masters, store, nil
}

// maxSecret is how many bytes a password, a key or a certificate may have.
const maxSecret = 1 << 20

func (c *Config) password() (string, error) {
	if c.PasswordFile == "" {
		return c.secrets.Default, nil
	}
	if c.secrets.Default != "" {
		return "", fmt.Errorf("%s contradicts %s: leave one of them out", c.At("redis_password_file"), PasswordVariable)
	}
	text, err := ReadAtMost(c.PasswordFile, maxSecret, "a password")
	if err != nil {
		return "", fmt.Errorf("%s: give a file with the password: %w", c.At("redis_password_file"), err)
	}
	password := strings.TrimRight(string(text), "\r\n")
	if password == "" {
		return "", fmt.Errorf("%s: %s is empty: give a file with the password", c.At("redis_password_file"), c.PasswordFile)
	}
	return password, nil
}

// tlsConfig is what all given servers are spoken to with that speak TLS.
func (c *Config) tlsConfig() (*tls.Config, error) {
	// A session that is taken up again spares both sides most of a handshake:
	// under faults there are many.
	out := &tls.Config{MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(0)}
	if c.TLSCA != "" {
		text, err := ReadAtMost(c.TLSCA, maxSecret, "a certificate")
		if err != nil {
			return nil, fmt.Errorf("%s: give the authority's certificate: %w", c.At("tls_ca"), err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: %s holds no certificate: give the authority's, in PEM", c.At("tls_ca"), c.TLSCA)
		}
	}
	if c.TLSCert == "" && c.TLSKey == "" {
		return out, nil
	}
	if c.TLSCert == "" || c.TLSKey == "" {
		return nil, errors.New("--tls-cert and --tls-key belong together: give both, or neither")
	}
	pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: give the client's certificate and its key, in PEM: %w", c.At("tls_cert"), c.At("tls_key"), err)
	}
	if now := time.Now(); now.Before(pair.Leaf.NotBefore) || now.After(pair.Leaf.NotAfter) {
		return nil, fmt.Errorf("%s: the certificate in %s is not valid now (%s to %s): give one that is",
			c.At("tls_cert"), c.TLSCert, pair.Leaf.NotBefore.UTC().Format(time.DateTime), pair.Leaf.NotAfter.UTC().Format(time.DateTime))
	}
	out.Certificates = []tls.Certificate{pair}
	return out, nil
}

// validateServers checks what is said of given servers, and of how they are
// spoken to.
func (c *Config) validateServers() error {
	if c.Testbed == "compose" {
		return nil
	}
	masters, store, err := c.Servers()
	if err != nil {
		return err
	}
	if store != nil {
		masters = append(masters, *store)
	}
	tlsSpoken := false
	for _, e := range masters {
		tlsSpoken = tlsSpoken || e.TLS != nil
	}
	for key, value := range map[string]string{"tls_ca": c.TLSCA, "tls_cert": c.TLSCert, "tls_key": c.TLSKey, "tls_server_name": c.TLSServerName} {
		if value != "" && !tlsSpoken {
			return fmt.Errorf("%s is for servers that speak TLS, and none is given: --redis rediss://HOST:PORT", c.At(key))
		}
	}
	if err := c.validatePrefix(len(masters) > 0); err != nil {
		return err
	}
	if c.PasswordFile != "" && len(masters) == 0 {
		return fmt.Errorf("%s is for servers that run already, and none is given: --redis", c.At("redis_password_file"))
	}
	return nil
}

// prefixPattern has nothing that means something to Redis in the name of a key, and
// is long enough to be nobody else's by chance.
var prefixPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{2,63}$`)

func (c *Config) validatePrefix(given bool) error {
	switch {
	case c.Prefix == "":
		return nil
	case !given:
		return fmt.Errorf("%s is for servers that run already, and none is given: --redis", c.At("prefix"))
	case !prefixPattern.MatchString(c.Prefix):
		return c.wrong("prefix", strconv.Quote(c.Prefix), "3 to 64 letters, digits, dots, dashes, colons and underscores, such as torture:")
	}
	return nil
}

// serverForms are the ways to write a server.
const serverForms = "host:port, redis://[USER:PASSWORD@]HOST:PORT[/DB], rediss://… (TLS) or unix:///PATH[?db=DB]"

// parseServer reads a server that was given at origin. What may bear a password
// is not repeated. That it speaks TLS shows in an empty configuration.
func parseServer(origin, text string) (server.Endpoint, error) {
	wrong := func(why string) (server.Endpoint, error) {
		return server.Endpoint{}, fmt.Errorf("%s %s (not repeated here, it may bear a password): give %s", origin, why, serverForms)
	}
	if !strings.Contains(text, "://") {
		if strings.ContainsAny(text, "@/?") {
			return wrong("names a server with a user or a path, and without redis://")
		}
		return server.Endpoint{Addr: text}, Address(origin, text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return wrong("is a URL that cannot be read, where @ : / ? # % in a password are written %40 %3A %2F %3F %23 %25")
	}
	e := server.Endpoint{Username: u.User.Username()}
	e.Password, _ = u.User.Password()
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.Fragment != "" {
		return wrong("is a URL with a fragment, or a query that cannot be read")
	}
	db := strings.TrimPrefix(u.Path, "/")
	switch u.Scheme {
	case "redis", "rediss":
		if u.Hostname() == "" {
			return wrong("names no host")
		}
		e.Addr = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "6379"))
		if u.Scheme == "rediss" {
			e.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		if err := Address(origin, e.Addr); err != nil {
			return e, err
		}
	case "unix":
		if u.Host != "" || !filepath.IsAbs(u.Path) {
			return wrong("names a socket without its whole path: unix:///run/redis.sock has three slashes")
		}
		e.Network, e.Addr, db = "unix", filepath.Clean(u.Path), ""
	default:
		return wrong("is a URL of another kind")
	}
	if values, given := query["db"]; given && db == "" && len(values) == 1 {
		db = values[0]
		delete(query, "db")
	}
	if len(query) > 0 {
		return wrong("is a URL with options, of which db alone is understood, once")
	}
	if db == "" {
		return e, nil
	}
	if e.DB, err = strconv.Atoi(db); err != nil || e.DB < 0 {
		return wrong("is a URL with a database that is no number")
	}
	return e, nil
}
