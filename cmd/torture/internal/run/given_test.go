package run

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/redistest"
	"locktorture/faults/testbed/server"
)

const (
	givenUser     = "kim"
	givenPassword = "sw0rd,fish+%/@" // with what URLs and lists are made of
	inURL         = "sw0rd%2Cfish%2B%25%2F%40"
)

// givenRun is a short run with faults on links, as the user writes it down.
func givenRun(t *testing.T, settings map[string]string) config.Config {
	t.Helper()
	c, err := config.Base("calm")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{
		"lock": "single", "clients": "4", "duration": "4s", "seed": "7", "ttl": "1s", "out": t.TempDir(),
		"faults": "latency:for=500ms,reset,request-lost:for=500ms",
	}
	for name, value := range settings {
		all[name] = value
	}
	for _, s := range config.Settings {
		if value, given := all[s.Name]; given {
			if err := c.Apply(s, value, "--"+s.Name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Reconcile(); err != nil {
		t.Fatal(err)
	}
	c.Final = time.Second
	return c
}

// Servers that ask for a password, a user, a database, TLS with a client's
// certificate, or have a socket alone: a run works there, link faults take effect, a
// second one works, no key is left, and the password stands nowhere.
func TestServersAsPeopleRunThem(t *testing.T) {
	t.Parallel()
	certs := redistest.NewCertificates(t)
	acl := redistest.ACL(t, givenUser, givenPassword)
	port := func() (string, string) { p := redistest.FreePort(t); return p, "127.0.0.1:" + p }

	p1, withPassword := port()
	redistest.Serve(t, "tcp", withPassword, "--port", p1, "--requirepass", givenPassword)
	p4, withFile := port()
	redistest.Serve(t, "tcp", withFile, "--port", p4, "--requirepass", givenPassword)
	p2, withUser := port()
	redistest.Serve(t, "tcp", withUser, append([]string{"--port", p2}, acl...)...)
	socket := filepath.Join(t.TempDir(), "r.sock")
	redistest.Serve(t, "unix", socket, "--port", "0", "--unixsocket", socket)
	p3, withTLS := port()
	redistest.Serve(t, "tcp", withTLS, append(certs.TLS(p3, certs.Server), acl...)...)
	encrypted := map[string]string{
		"tls-ca": certs.Authority, "tls-cert": certs.Client.Cert, "tls-key": certs.Client.Key, "tls-server-name": redistest.ServerName,
	}
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte(givenPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	for name, settings := range map[string]map[string]string{
		"password in the URL": {"redis": "redis://:" + inURL + "@" + withPassword},
		"password in a file":  {"redis": withFile, "redis-password-file": secret},
		"user and database":   {"redis": "redis://" + givenUser + ":" + inURL + "@" + withUser + "/3"},
		"store with password": {"redis": "redis://" + givenUser + ":" + inURL + "@" + withUser + "/6", "store": "redis://:" + inURL + "@" + withPassword + "/4"},
		"socket":              {"redis": "unix://" + socket + "?db=1"},
		"TLS, user, database": {"redis": "rediss://" + givenUser + ":" + inURL + "@" + withTLS + "/2"},
		"a child over TLS":    {"redis": "rediss://" + givenUser + ":" + inURL + "@" + withTLS + "/5", "lock": "redis-py", "faults": "latency:for=500ms"},
	} {
		t.Run(name, func(t *testing.T) { // each on a server or a database of its own
			t.Parallel()
			if strings.Contains(settings["redis"], "rediss") {
				for k, v := range encrypted {
					settings[k] = v
				}
			}
			rounds := 1
			if name == "socket" {
				rounds = 2
			}
			for range rounds {
				c := givenRun(t, settings)
				r, err := Run(t.Context(), c, lock(t, c.Lock), Options{Argv: []string{"torture", "run", "--redis", settings["redis"]}})
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Harness) > 0 || r.Report.Evidence.Grants == 0 || len(r.Report.Violations) > 0 {
					t.Errorf("harness %v, %d grants, violations %v", r.Harness, r.Report.Evidence.Grants, r.Report.Violations)
				}
				for _, f := range r.Report.Inconclusive {
					if f.ID == "V2" {
						t.Errorf("a fault had no effect: %s", f.Text)
					}
				}
				masters, store, err := c.Servers()
				if err != nil {
					t.Fatal(err)
				}
				if store != nil {
					masters = append(masters, *store)
				}
				for _, e := range masters {
					if left := redistest.KeysAt(t, e); len(left) > 0 {
						t.Errorf("left on %s: %v", e, left)
					}
				}
				nowhere(t, r.Dir)
			}
		})
	}
}

// nowhere fails the test where a file in dir holds the password.
func nowhere(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, secret := range []string{givenPassword, inURL, "sw0rd"} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s holds the password", path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// What was given wrongly is refused in one line that says what would be right,
// before anything is written; what the server is at fault for is no wrong usage.
func TestServersThatDoNotFit(t *testing.T) {
	t.Parallel()
	certs := redistest.NewCertificates(t)
	port := func() (string, string) { p := redistest.FreePort(t); return p, "127.0.0.1:" + p }
	p, plain := port()
	redistest.Serve(t, "tcp", plain, "--port", p)
	p, withPassword := port()
	redistest.Serve(t, "tcp", withPassword, "--port", p, "--requirepass", givenPassword, "--user", "poor", "on", ">poor", "~*", "&*", "+@read", "--databases", "4")
	p, replica := port()
	redistest.Serve(t, "tcp", replica, "--port", p, "--replicaof", strings.Replace(plain, ":", " ", 1))
	p, cluster := port()
	redistest.Serve(t, "tcp", cluster, "--port", p, "--cluster-enabled", "yes")
	p, withTLS := port()
	redistest.Serve(t, "tcp", withTLS, certs.TLS(p, certs.Server)...)
	p, expired := port()
	redistest.Serve(t, "tcp", expired, certs.TLS(p, certs.ExpiredServer)...)
	p, sentinel := port()
	config := filepath.Join(t.TempDir(), "sentinel.conf") // which it rewrites
	if err := os.WriteFile(config, []byte("port "+p+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	redistest.Serve(t, "tcp", sentinel, config, "--sentinel")
	regular := filepath.Join(t.TempDir(), "redis.sock")
	if err := os.WriteFile(regular, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	other := redistest.NewCertificates(t)
	ca, name := "--tls-ca="+certs.Authority, "--tls-server-name="+redistest.ServerName
	client := []string{"--tls-cert=" + certs.Client.Cert, "--tls-key=" + certs.Client.Key}

	for what, c := range map[string]struct {
		given  []string
		want   string
		server bool // at fault
	}{
		"no password":           {[]string{"--redis=" + withPassword}, "asks for a password: give TORTURE_REDIS_PASSWORD", false},
		"wrong password":        {[]string{"--redis=redis://:hunter2@" + withPassword}, `the password is not user "default"'s`, false},
		"unknown user":          {[]string{"--redis=redis://ann:hunter2@" + withPassword}, `the password is not user "ann"'s`, false},
		"password for nothing":  {[]string{"--redis=redis://:hunter2@" + plain}, "asks for no password", false},
		"few rights":            {[]string{"--redis=redis://poor:poor@" + withPassword}, "ACL SETUSER poor +@all", false},
		"no such database":      {[]string{"--redis=redis://:" + inURL + "@" + withPassword + "/9"}, "has no database 9", false},
		"replica":               {[]string{"--redis=" + replica}, "a replica of 127.0.0.1:", false},
		"Sentinel":              {[]string{"--redis=" + sentinel}, "a Sentinel, which keeps no data: give the master that it watches", false},
		"cluster":               {[]string{"--redis=" + cluster}, "part of a Redis Cluster", false},
		"database of a cluster": {[]string{"--redis=redis://" + cluster + "/1"}, "part of a Redis Cluster", false},
		"no TLS there":          {[]string{"--redis=rediss://" + plain}, "speaks no TLS", false},
		"TLS there":             {[]string{"--redis=" + withTLS}, "say rediss://", false},
		"unknown authority":     {append(client, "--redis=rediss://"+withTLS, "--tls-ca="+other.Authority, name), "--tls-ca FILE", false},
		"another name":          {append(client, "--redis=rediss://"+withTLS, ca), "its certificate is for redis.test, and 127.0.0.1 was asked for", false},
		"no client's":           {[]string{"--redis=rediss://" + withTLS, ca, name}, "--tls-cert FILE --tls-key FILE", false},
		"stranger's":            {[]string{"--redis=rediss://" + withTLS, ca, name, "--tls-cert=" + other.Client.Cert, "--tls-key=" + other.Client.Key}, "does not accept the client's certificate", false},
		"expired server's":      {append(client, "--redis=rediss://"+expired, ca, name), "the server needs a new one", true},
		"expired client's":      {[]string{"--redis=rediss://" + withTLS, ca, name, "--tls-cert=" + certs.ExpiredClient.Cert, "--tls-key=" + certs.ExpiredClient.Key}, "is not valid now", false},
		"another's key":         {[]string{"--redis=rediss://" + withTLS, ca, name, "--tls-cert=" + certs.Client.Cert, "--tls-key=" + other.Client.Key}, "give the client's certificate and its key", false},
		"TLS with a user":       {[]string{"--redis=redis://ann:hunter2@" + withTLS}, "say rediss://", false},
		"socket of nobody":      {[]string{"--redis=unix://" + regular}, "no server listens at that socket", false},
		"no socket":             {[]string{"--redis=unix:///nowhere/redis.sock"}, "no such file or directory: give the path that the server's setting unixsocket names", false},
	} {
		t.Run(what, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "runs")
			settings := map[string]string{"out": out}
			for _, flag := range c.given {
				name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
				settings[name] = value
			}
			cfg := givenRun(t, settings)
			_, err := Run(t.Context(), cfg, lock(t, cfg.Lock), Options{})
			if err == nil {
				t.Fatal("the run began")
			}
			text := err.Error()
			if !strings.Contains(text, c.want) || strings.Contains(text, "\n") || strings.Contains(text, "hunter2") || strings.Contains(text, "sw0rd") {
				t.Errorf("%q does not say %q in one line", text, c.want)
			}
			if start := errors.As(err, new(StartError)); start != c.server {
				t.Errorf("the server is at fault: %v, want %v (%v)", start, c.server, err)
			}
			if left, _ := os.ReadDir(out); len(left) > 0 {
				t.Errorf("%s was made", left[0].Name())
			}
		})
	}
	for _, n := range server.Plain(plain) {
		if left := redistest.KeysAt(t, n); len(left) > 0 {
			t.Errorf("written: %v", left)
		}
	}
}
