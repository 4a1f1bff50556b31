package app_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locktorture/checker"
	"locktorture/cmd/torture/app"
	"locktorture/lockimpl"
)

// A lock on go-redis as one finds it in many programs, with a bug: whoever
// releases deletes the key, whosever it is by then.
func newDeletingLock(nodes []lockimpl.Node) (lockimpl.Locker, error) {
	if len(nodes) != 1 {
		return nil, fmt.Errorf("one master, not %d", len(nodes))
	}
	n := nodes[0]
	return &deletingLock{redis.NewClient(&redis.Options{
		Addr: n.Addr, MaxRetries: -1, // a retry would hide in one attempt what the judge has to see
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) { return n.Dial(ctx, network, addr) },
	})}, nil
}

type deletingLock struct{ client *redis.Client }

func (l *deletingLock) Acquire(ctx context.Context, key string, ttl time.Duration) (lockimpl.Lease, error) {
	until := time.Now().Add(ttl)
	err := l.client.SetArgs(ctx, key, "locked", redis.SetArgs{Mode: "NX", TTL: ttl}).Err()
	if err == redis.Nil {
		return nil, lockimpl.ErrHeld
	}
	if err != nil {
		return nil, fmt.Errorf("set %s: %w", key, err)
	}
	return &deletingLease{l.client, key, until}, nil
}

func (l *deletingLock) Close() error { return l.client.Close() }

type deletingLease struct {
	client *redis.Client
	key    string
	until  time.Time
}

func (l *deletingLease) Fence() uint64         { return 0 }
func (l *deletingLease) ValidUntil() time.Time { return l.until }
func (l *deletingLease) Extend(ctx context.Context, ttl time.Duration) error {
	return lockimpl.ErrLost
}
func (l *deletingLease) Release(ctx context.Context) error { return l.client.Del(ctx, l.key).Err() }

// The whole command with one more lock in it: torture run --lock mine.
func ExampleWithLock() {
	app.Main(app.WithLock("mine", newDeletingLock))
}

// torture runs the command with the lock in it.
func torture(args ...string) (code int, said string) {
	var out bytes.Buffer
	code = app.Run(args, &out, &out, app.WithLock("mine", newDeletingLock))
	return code, out.String()
}

// A broken lock that was brought along is convicted, with its witness, and its
// run can be judged and played again; on up to six seeds, since a busy machine
// leaves some of what it sees unproved.
func TestWithLock(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, said := torture("list", "locks"); code != 0 || !strings.Contains(said, "  mine ") {
		t.Errorf("exit %d: %s", code, said)
	}
	code, said := 0, ""
	foreign := func() bool { // each is proof that nobody compares owners
		return slices.ContainsFunc([]string{"foreign release", "double grant", "extension across a loss"}, func(title string) bool { return strings.Contains(said, title) })
	}
	for _, seed := range []string{"1", "2", "3", "4", "5", "6"} {
		code, said = torture("run", "calm", "--lock", "mine", "--testbed", "embedded", "--seed", seed, "--faults", "pause-client:for=1100ms",
			"--keys", "1", "--hold", "100ms", "--ttl", "700ms", "--duration", "4s")
		if code == checker.Fail.Exit() && foreign() {
			break
		}
	}
	if code != checker.Fail.Exit() || !strings.Contains(said, "VERDICT FAIL exit 1") || !foreign() {
		t.Fatalf("exit %d: %s", code, said)
	}
	if files, _ := filepath.Glob("runs/latest/results.json"); len(files) != 1 {
		t.Error("no results")
	}
	if code, said := torture("check"); code != checker.Fail.Exit() {
		t.Errorf("check: exit %d: %s", code, said)
	}
}

// What cannot be added is wrong usage, with what would be right.
func TestWithLockIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, c := range map[string]struct {
		option app.Option
		want   string
	}{
		"taken":      {app.WithLock("redlock", newDeletingLock), `lock "redlock" exists already`},
		"two words":  {app.WithLock("my lock", newDeletingLock), `lock "my lock": an id is letters`},
		"no name":    {app.WithLock("", newDeletingLock), `lock "": an id is letters`},
		"no factory": {app.WithLock("mine", nil), "its factory is nil"},
	} {
		var out, wrong bytes.Buffer
		if code := app.Run([]string{"list", "locks"}, &out, &wrong, c.option); code != 64 || !strings.Contains(wrong.String(), c.want) {
			t.Errorf("%s: exit %d: %s", name, code, &wrong)
		}
	}
	if code, said := torture("run", "--lock", "mine", "--nodes", "3", "--print-config"); code != 64 || !strings.Contains(said, "one master, not 3") {
		t.Errorf("three masters: exit %d: %s", code, said)
	}
	if left, _ := os.ReadDir("."); len(left) > 0 {
		t.Errorf("%s was made", left[0].Name())
	}
}
