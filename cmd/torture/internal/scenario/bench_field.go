package scenario

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/cmd/torture/internal/config"
	"locktorture/faults/testbed"
)

// A FieldConfig says on which servers something is measured.
type FieldConfig struct {
	Testbed  string
	Nodes    int
	Redis    []string // addresses of servers that run already
	OwnRedis bool     // they may be elsewhere than on this machine
	Dir      string   // for the nodes' logs
}

// Validate names the first setting that cannot work.
func (c FieldConfig) Validate() error {
	kinds := []string{testbed.KindAuto, testbed.KindProcess, testbed.KindEmbedded, testbed.KindExternal}
	switch {
	case c.Testbed != "" && !slices.Contains(kinds, c.Testbed):
		return fmt.Errorf("--testbed is %q: one of %s%s", c.Testbed, strings.Join(kinds, ", "), config.DidYouMean(c.Testbed, kinds))
	case c.Testbed == testbed.KindExternal && len(c.Redis) == 0:
		return errors.New("--testbed external needs --redis host:port,… of the servers")
	case len(c.Redis) > 0 && (c.Testbed == testbed.KindProcess || c.Testbed == testbed.KindEmbedded):
		return fmt.Errorf("--redis contradicts --testbed (%s): servers that run already are testbed external: leave one of them out", c.Testbed)
	}
	for _, addr := range c.Redis {
		if err := config.Address("--redis", addr); err != nil {
			return err
		}
	}
	return nil
}

// An UnfitError says why given servers cannot be used: not reachable, not
// empty, or not the caller's to use (--i-own-this-redis).
type UnfitError struct{ err error }

func (e UnfitError) Error() string { return "--redis: " + e.err.Error() }
func (e UnfitError) Unwrap() error { return e.err }

// A field is the servers on which locks are measured, with a direct connection
// to each. Every key on it carries the field's id.
type field struct {
	bed    testbed.Testbed
	why    string
	id     string
	admins []*redis.Client
	pids   []int // of the servers, where they run on this machine; else 0
	cells  int
}

func newField(ctx context.Context, c FieldConfig) (f *field, err error) {
	redis.SetLogger(silence{})
	f = &field{id: "torture-" + strings.ToLower(rand.Text()[:10])}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close(context.WithoutCancel(ctx)))
		}
	}()
	kind := c.Testbed
	if len(c.Redis) > 0 && (kind == "" || kind == testbed.KindAuto) {
		kind = testbed.KindExternal
	}
	f.bed, f.why, err = testbed.Start(ctx, testbed.Config{
		Kind: kind, Nodes: c.Nodes, Dir: c.Dir,
		External: testbed.ExternalConfig{Addrs: c.Redis, OwnThisRedis: c.OwnRedis},
	})
	if err != nil && kind == testbed.KindExternal {
		return f, UnfitError{err}
	}
	if err != nil {
		return f, err
	}
	for _, n := range f.bed.Nodes() {
		f.admins = append(f.admins, admin(n))
		f.pids = append(f.pids, f.pid(ctx, len(f.admins)-1))
	}
	return f, nil
}

// admin returns a client past every link.
func admin(n testbed.Node) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: n.Addr(), MaxRetries: -1, DisableIdentity: true, PoolSize: 2, ReadTimeout: 5 * time.Second,
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) { return n.Dial(ctx) },
	})
}

// embedded reports whether the servers are part of this process.
func (f *field) embedded() bool { return f.bed.Name() == testbed.KindEmbedded }

// pid asks a server for its process, and believes it when this machine has a
// process of that number that calls itself a Redis.
func (f *field) pid(ctx context.Context, node int) int {
	if f.embedded() {
		return 0
	}
	text, err := f.admins[node].Info(ctx, "server").Result()
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(infoField(text, "process_id"))
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil || !strings.Contains(string(name), "redis") && !strings.Contains(string(name), "valkey") {
		return 0
	}
	return pid
}

func infoField(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// prefix names the keys of the next measurement.
func (f *field) prefix() string {
	f.cells++
	return fmt.Sprintf("%s-%d", f.id, f.cells)
}

// close removes what the measurements left on servers that live on.
func (f *field) close(ctx context.Context) error {
	var errs []error
	if f.bed != nil && f.bed.Name() == testbed.KindExternal {
		for i := range f.admins {
			errs = append(errs, f.sweep(ctx, i))
		}
	}
	for _, a := range f.admins {
		errs = append(errs, a.Close())
	}
	if f.bed != nil {
		errs = append(errs, f.bed.Close())
	}
	return errors.Join(errs...)
}

// sweepTime bounds the removal of keys from one server.
const sweepTime = 30 * time.Second

// sweep deletes every key that carries the field's id, and looks whether any
// is left.
func (f *field) sweep(ctx context.Context, node int) error {
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	a, pattern := f.admins[node], "*"+f.id+"*"
	for keys := a.Scan(ctx, 0, pattern, 1000).Iterator(); ; {
		if !keys.Next(ctx) {
			if err := keys.Err(); err != nil {
				return fmt.Errorf("delete keys %s on %s: %w", pattern, f.bed.Nodes()[node].Addr(), err)
			}
			break
		}
		if err := a.Unlink(ctx, keys.Val()).Err(); err != nil {
			return fmt.Errorf("delete %s on %s: %w", keys.Val(), f.bed.Nodes()[node].Addr(), err)
		}
	}
	rest := a.Scan(ctx, 0, pattern, 1000).Iterator()
	if rest.Next(ctx) {
		return fmt.Errorf("keys %s are still on %s after they were deleted: delete them by hand", pattern, f.bed.Nodes()[node].Addr())
	}
	return rest.Err()
}

// commands is how many commands the first n servers have executed so far,
// those within scripts too, without the handshakes of connections.
func (f *field) commands(ctx context.Context, n int) (total float64) {
	for _, a := range f.admins[:n] {
		text, err := a.Info(ctx, "commandstats").Result()
		if err != nil {
			return 0
		}
		for line := range strings.Lines(text) {
			total += calls(line)
		}
	}
	return total
}

// calls reads "cmdstat_set:calls=12,usec=…".
func calls(line string) float64 {
	name, rest, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
	base, _, _ := strings.Cut(name, "|")
	switch base {
	case "info", "hello", "client", "ping", "command", "config", "auth":
		return 0
	}
	if !ok {
		return 0
	}
	count, _, _ := strings.Cut(rest, ",")
	n, _ := strconv.ParseFloat(strings.TrimSpace(count), 64)
	return n
}
