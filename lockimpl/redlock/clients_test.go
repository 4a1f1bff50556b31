package redlock_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl/internal/redistest"
	"locktorture/lockimpl/redlock"
)

// certificate writes a certificate for 127.0.0.1 and its key, and returns what
// trusts it.
func certificate(t *testing.T) (cert, key string, trust *tls.Config) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(crand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pool := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "EC PRIVATE KEY", secret), &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

// A hook counts what passes it.
type hook struct {
	mu    sync.Mutex
	dials int
	names map[string]int
}

func (h *hook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		h.mu.Lock()
		h.dials++
		h.mu.Unlock()
		return next(ctx, network, addr)
	}
}

func (h *hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (h *hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		h.mu.Lock()
		for _, cmd := range cmds {
			h.names[cmd.Name()]++
		}
		h.mu.Unlock()
		return next(ctx, cmds)
	}
}

// secured starts a server that takes TLS connections of a user with a password
// only, and returns how to get there.
func secured(t *testing.T) (opt *redis.Options, admin *redis.Client) {
	t.Helper()
	cert, key, trust := certificate(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	_ = free.Close()
	_, port, _ := net.SplitHostPort(addr)
	admin = redistest.Start(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", "no")
	set := []any{"ACL", "SETUSER", "app", "reset", "on", ">secret"}
	for _, rule := range aclRules(t) {
		set = append(set, rule)
	}
	if err := admin.Do(t.Context(), append(set, "+select", "+client")...).Err(); err != nil {
		t.Fatal(err)
	}
	return &redis.Options{Addr: addr, TLSConfig: trust, Username: "app", Password: "secret", DB: 3, ClientName: "billing"}, admin
}

// aclRules are those that README.md tells, behind the password.
func aclRules(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(page), "ACL SETUSER lock on >secret ")
	rules, _, ok2 := strings.Cut(after, "\n") // one line: whoever pastes two gives the user a part
	if !ok || !ok2 {
		t.Fatal("README.md has no ACL")
	}
	return strings.Fields(rules)
}

// Whatever the caller's options say is heeded, on the connection for calls and
// on the one for wake-ups.
func TestOptionsAreHonoured(t *testing.T) {
	ways := map[string]func(t *testing.T, opt *redis.Options) (*redlock.Lock, error){
		"client": func(t *testing.T, opt *redis.Options) (*redlock.Lock, error) {
			c := redis.NewClient(opt)
			t.Cleanup(func() { _ = c.Close() })
			return redlock.New(setUp(quick), c)
		},
		"options": func(_ *testing.T, opt *redis.Options) (*redlock.Lock, error) {
			return redlock.NewFromOptions(setUp(quick), opt)
		},
		"provider": func(_ *testing.T, opt *redis.Options) (*redlock.Lock, error) {
			user, password := opt.Username, opt.Password
			opt.Username, opt.Password = "", ""
			opt.CredentialsProviderContext = func(context.Context) (string, string, error) { return user, password, nil }
			return redlock.NewFromOptions(setUp(quick), opt)
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			opt, admin := secured(t)
			var dials, greeted atomic.Int32
			dial := redis.NewDialer(opt)
			opt.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
				dials.Add(1)
				return dial(ctx, network, addr)
			}
			opt.OnConnect = func(context.Context, *redis.Conn) error { greeted.Add(1); return nil }
			l, err := way(t, opt)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if err := l.Bootstrap(t.Context()); err != nil {
				t.Fatal(err)
			}
			holder, err := l.Acquire(t.Context(), "k", 10*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			waits := make(chan error)
			go func() {
				got, err := l.AcquireFair(t.Context(), "k", 10*time.Second)
				if err == nil {
					err = got.Release(t.Context())
				}
				waits <- err
			}()
			tickets := func() bool {
				return admin.Do(t.Context(), "SELECT", 0).Err() == nil && onDB(t, admin, 3, "lock:{k}:qt")
			}
			await(t, "a waiter has queued in database 3", tickets)
			var list string
			named := 0
			both := func() bool { // the second one may still be introducing itself
				list, named = admin.ClientList(t.Context()).Val(), 0
				for line := range strings.Lines(list) {
					if strings.Contains(line, "name=billing ") && strings.Contains(line, "user=app ") && strings.Contains(line, "db=3 ") {
						named++
					}
				}
				return named >= 2 && greeted.Load() >= 2
			}
			await(t, "both connections have introduced themselves", both)
			if named != 2 || dials.Load() < 2 || greeted.Load() != 2 { // one dial more for the message, where the first took longer than 50 ms
				t.Errorf("%d connections under the name, user and database that were asked for, %d dials, %d OnConnect; want 2 of each:\n%s",
					named, dials.Load(), greeted.Load(), list)
			}
			if err := errors.Join(holder.Release(t.Context()), <-waits); err != nil {
				t.Error(err)
			}
		})
	}
}

func setUp(cfg redlock.Config) redlock.Config {
	cfg.FirstTime = true
	return cfg
}

// onDB reports whether a database of the server has a key.
func onDB(t *testing.T, admin *redis.Client, db int, key string) bool {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: admin.Options().Addr, DB: db})
	defer c.Close()
	return c.Exists(t.Context(), key).Val() == 1
}

func TestHooksOfAClientSeeWhatTheLockDoes(t *testing.T) {
	m := miniredis.RunT(t)
	redistest.Identify(m)
	c := redis.NewClient(&redis.Options{Addr: m.Addr()})
	defer c.Close()
	seen := &hook{names: map[string]int{}}
	c.AddHook(seen)
	l, err := redlock.New(setUp(quick), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Bootstrap(t.Context()); err != nil {
		t.Fatal(err)
	}
	lease, err := l.Acquire(t.Context(), "k", 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(lease.Release(t.Context()), l.Close()); err != nil {
		t.Fatal(err)
	}
	seen.mu.Lock()
	dials, names := seen.dials, maps.Clone(seen.names)
	seen.mu.Unlock()
	if dials != 1 || names["evalsha"] < 4 || names["info"] < 2 {
		t.Errorf("%d dials, commands %v", dials, names)
	}
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Errorf("the caller's client was closed: %v", err)
	}
}

// go-redis must not send a pipeline again by itself, whatever the client that
// was given is set to: that would be another copy of a request that is under way.
func TestRetriesOfAClientAreSwitchedOff(t *testing.T) {
	writes := func(retries int) int64 {
		m := miniredis.RunT(t)
		redistest.Identify(m)
		var n atomic.Int64
		c := redis.NewClient(&redis.Options{Addr: m.Addr(), MaxRetries: retries, Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			return counted{c, &n}, err
		}})
		defer c.Close()
		l, err := redlock.New(setUp(quick), c)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := l.Bootstrap(t.Context()); err != nil {
			t.Fatal(err)
		}
		n.Store(0)
		m.SetError("LOADING Redis is loading the dataset in memory")
		if _, err := l.Acquire(t.Context(), "k", 10*time.Second); err == nil {
			t.Error("granted by a server that loads")
		}
		m.SetError("")
		return n.Load()
	}
	if without, with := writes(-1), writes(8); with != without || with == 0 {
		t.Errorf("%d writes with retries, %d without", with, without)
	}
}

type counted struct {
	net.Conn
	writes *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

func TestClientsThatCannotCarryALockAreRefused(t *testing.T) {
	one := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}})
	two := redis.NewClient(&redis.Options{Addr: "127.0.0.1:2"})
	for _, c := range []redis.UniversalClient{one, two, cluster, ring} {
		defer c.Close()
	}
	var none *redis.Client
	for says, clients := range map[string][]redis.UniversalClient{
		"cluster mode":  {cluster},
		"a Ring":        {ring},
		"appears twice": {one, one, one},
		"even number":   {one, two},
		"no nodes":      {},
		"nil":           {none},
		"must be a":     {struct{ redis.UniversalClient }{one}},
	} {
		_, err := redlock.New(redlock.Config{}, clients...)
		if !errors.Is(err, redlock.ErrMisconfigured) || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want one that says %q", err, says)
		}
	}
	if _, err := redlock.NewFromURLs(redlock.Config{}, "http://a"); !errors.Is(err, redlock.ErrMisconfigured) {
		t.Errorf("a URL of something else: %v", err)
	}
	if _, err := redlock.NewFromOptions(redlock.Config{}, &redis.Options{}); !errors.Is(err, redlock.ErrMisconfigured) {
		t.Errorf("options without an address: %v", err)
	}
}

// A server of a cluster looks like any other to an ordinary client.
func TestServerInClusterModeIsRefused(t *testing.T) {
	rdb := redistest.Start(t, "--cluster-enabled", "yes")
	l, err := redlock.NewFromURLs(setUp(quick), "redis://"+rdb.Options().Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Bootstrap(t.Context()); !errors.Is(err, redlock.ErrClusterMode) {
		t.Errorf("bootstrap: %v", err)
	}
	if _, err := l.AcquireWait(t.Context(), "k", time.Second); !errors.Is(err, redlock.ErrClusterMode) {
		t.Errorf("acquire: %v", err)
	}
}

// Scripts touch no key that was not declared: elsewhere than on Redis that is an
// error, or is not seen by what locks keys.
func TestScriptsTouchDeclaredKeysOnly(t *testing.T) {
	nodes := serverNodes(t, 1)
	l := bootstrapped(t, nodes, quick)
	c := redis.NewClient(&redis.Options{Addr: nodes[0].Addr})
	defer c.Close()
	watch, err := net.Dial("tcp", nodes[0].Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	_ = watch.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(watch, "MONITOR\r\n"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(watch)
	lines.Scan() // +OK
	everything(t, l)
	if err := c.Echo(t.Context(), "the end").Err(); err != nil {
		t.Fatal(err)
	}
	var declared []string
	touched := 0
	for lines.Scan() {
		line := lines.Text()
		if strings.Contains(line, "the end") {
			break
		}
		words := quoted(line)
		switch {
		case len(words) > 3 && strings.HasPrefix(words[0], "eval"):
			n := slices.IndexFunc(words, func(w string) bool { return len(w) < 3 && w >= "0" && w <= "9" })
			declared = words[n+1 : n+1+int(words[n][0]-'0')]
		case strings.Contains(line, " lua]") && len(words) > 1 && !slices.Contains([]string{"TIME", "PUBLISH"}, words[0]):
			touched++
			keys := words[1:2]
			if words[0] == "MGET" {
				keys = words[1:]
			}
			for _, key := range keys {
				if !slices.Contains(declared, key) {
					t.Errorf("%s touches %s; declared are %v", words[0], key, declared)
				}
			}
		}
	}
	if touched < 50 {
		t.Errorf("%d commands of scripts were seen", touched)
	}
}

// quoted returns what a line of MONITOR has between quotes.
func quoted(line string) (words []string) {
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			words = append(words, part)
		}
	}
	return words
}

// everything uses each script of the lock at least once, with waiters about.
func everything(t *testing.T, l *redlock.Locker) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, shared := range []bool{false, true} {
		take := l.Lock.Acquire
		if shared {
			take = l.Lock.AcquireShared
		}
		got, err := take(t.Context(), "k", 5*time.Second)
		must(err)
		done := make(chan error)
		for range 2 {
			go func() {
				next, err := l.Lock.AcquireFair(t.Context(), "k", 5*time.Second)
				if err == nil {
					err = next.Release(t.Context())
				}
				done <- err
			}()
		}
		await(t, "two have queued", func() bool { in, err := l.Inspect(t.Context(), "k"); return err == nil && in.Waiting == 2 })
		_, err = l.Lock.Acquire(t.Context(), "k", 5*time.Second)
		if !errors.Is(err, redlock.ErrHeld) {
			t.Errorf("beside another: %v", err)
		}
		must(errors.Join(got.Extend(t.Context(), 5*time.Second), got.Release(t.Context()), <-done, <-done))
		got, err = l.Lock.Acquire(t.Context(), "k", 5*time.Second) // the flag of the queue is still there
		must(err)
		must(got.Release(t.Context()))
	}
}

// A lock on a client with go-redis' defaults dials and subscribes with it at once, which under the
// race detector shows that both have settings of their own.
func TestClientWithDefaultsIsSharedWithoutARace(t *testing.T) {
	nodes := serverNodes(t, 1)
	bootstrapped(t, nodes, quick)
	rdb := redis.NewClient(&redis.Options{Addr: nodes[0].Addr})
	defer rdb.Close()
	var all sync.WaitGroup
	for range 8 {
		l, err := redlock.New(setUp(quick), rdb)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for range 4 {
			all.Go(func() {
				got, err := l.AcquireFair(t.Context(), "k", time.Second)
				if err == nil {
					err = got.Release(t.Context())
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Go(func() {
			if err := rdb.Ping(t.Context()).Err(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
