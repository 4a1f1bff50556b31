package child

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
)

// served makes this test binary a child.
const served = "LOCKTORTURE_TEST_SERVED"

var inGo = wrapper{
	name: "Go", present: []string{"true"},
	command: Command{Path: os.Args[0], Args: []string{"-test.run=^TestServed$"}, Env: []string{served + "=1"}},
}

// TestServed is the child itself, where a test has started it.
func TestServed(t *testing.T) {
	if os.Getenv(served) == "" {
		return
	}
	if err := Serve(newServedLock); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0) // before anything else is written to standard output
}

func newServedLock(nodes []lockimpl.Node) (lockimpl.Locker, error) {
	n := nodes[0]
	return servedLock{redis.NewClient(&redis.Options{Addr: n.Addr, Username: n.Username, Password: n.Password, DB: n.DB, MaxRetries: -1})}, nil
}

type servedLock struct{ *redis.Client }

// LeaseKeys implements lockimpl.KeyLister.
func (servedLock) LeaseKeys(key string) []string { return []string{"served:" + key} }

func (l servedLock) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	began, token := time.Now(), rand.Text()
	err := l.SetArgs(ctx, l.LeaseKeys(key)[0], token, redis.SetArgs{Mode: "NX", TTL: ttl}).Err()
	if errors.Is(err, redis.Nil) {
		return nil, lockimpl.ErrHeld
	}
	return &servedLease{l.Client, l.LeaseKeys(key)[0], token, began.Add(ttl)}, err
}

type servedLease struct {
	rdb        *redis.Client
	key, token string
	until      time.Time
}

func (*servedLease) Fence() uint64           { return 0 }
func (l *servedLease) ValidUntil() time.Time { return l.until }
func (l *servedLease) Extend(ctx context.Context, ttl time.Duration) error {
	return l.ours(ctx, "PEXPIRE", ttl.Milliseconds())
}
func (l *servedLease) Release(ctx context.Context) error { return l.ours(ctx, "DEL", 0) }

func (l *servedLease) ours(ctx context.Context, command string, ms int64) error {
	const script = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
		if ARGV[2] == 'DEL' then return redis.call('DEL', KEYS[1]) end
		return redis.call(ARGV[2], KEYS[1], ARGV[3])`
	done, err := l.rdb.Eval(ctx, script, []string{l.key}, l.token, command, ms).Int()
	if err == nil && done == 0 {
		return lockimpl.ErrLost
	}
	return err
}

// A child learns of what its nodes ask for through its environment; without it, or
// with one that is none, it says so.
func TestServeReadsItsNodes(t *testing.T) {
	want := []lockimpl.Node{
		{Name: "n1", Addr: "127.0.0.1:1", Username: "kim", Password: "a,b+c%/@:", DB: 3}, {Name: "n2", Addr: "127.0.0.1:2"},
	}
	got, err := nodesOf(urls(want))
	if err != nil || len(got) != 2 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "127.0.0.1:1", "redis://h:1/x", "redis://:hunter2@"} {
		err := serve(strings.NewReader(""), io.Discard, text, newServedLock)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestServedKeys: a served lock says which keys bear its leases where that can be said, and
// otherwise starts all the same.
func TestServedKeys(t *testing.T) {
	for _, c := range []struct {
		name  string
		names func(key string) []string
		want  any
	}{
		{"with the resource in them", func(key string) []string { return []string{"lock:{" + key + "}", key} }, "lock:{{key}},{key}"},
		{"none", func(string) []string { return nil }, ""},
		{"a hash", func(key string) []string { return []string{fmt.Sprintf("lock:%x", key)} }, nil},
		{"a hash beside it", func(key string) []string { return []string{fmt.Sprintf("%s:%x", key, key)} }, nil},
		{"a comma", func(key string) []string { return []string{key + ",lock"} }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &server{factory: func([]lockimpl.Node) (lockimpl.Locker, error) { return namedLock{names: c.names}, nil }}
			if got := s.init(order{})["keys"]; got != c.want {
				t.Errorf("keys %q, want %q", got, c.want)
			}
		})
	}
}

// namedLock is a lock whose leases are in keys of such names.
type namedLock struct {
	lockimpl.Locker
	names func(key string) []string
}

func (l namedLock) LeaseKeys(key string) []string { return l.names(key) }
