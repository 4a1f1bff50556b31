package redlock_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/redistest"
	"locktorture/lockimpl/redlock"
)

// embedded starts n embedded servers.
func embedded(t testing.TB, n int) []*miniredis.Miniredis {
	t.Helper()
	all := make([]*miniredis.Miniredis, n)
	for i := range all {
		m := miniredis.NewMiniRedis()
		m.ClockTTL(true)
		if err := m.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Close)
		redistest.Identify(m)
		all[i] = m
	}
	return all
}

// embeddedNodes starts n embedded servers and names them.
func embeddedNodes(t testing.TB, n int) []lockimpl.Node {
	t.Helper()
	return nodesAt(addrs(embedded(t, n)))
}

func addrs(all []*miniredis.Miniredis) []string {
	out := make([]string, len(all))
	for i, m := range all {
		out[i] = m.Addr()
	}
	return out
}

func nodesAt(addrs []string) []lockimpl.Node {
	nodes := make([]lockimpl.Node, len(addrs))
	for i, addr := range addrs {
		nodes[i] = lockimpl.Node{Name: fmt.Sprintf("n%d", i+1), Addr: addr}
	}
	return nodes
}

// needServer skips a test that a machine without redis-server cannot run,
// unless nothing may be skipped.
func needServer(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err == nil {
		return path
	}
	if os.Getenv("LOCKTORTURE_REQUIRE_ALL") == "1" {
		t.Fatal("redis-server is not on PATH")
	}
	t.Skip("redis-server is not on PATH")
	return ""
}

// serverNodes starts n redis-server processes without persistence.
func serverNodes(t testing.TB, n int, settings ...string) []lockimpl.Node {
	t.Helper()
	path := needServer(t)
	list := make([]string, n)
	for i := range list {
		list[i] = startServer(t, path, settings...)
	}
	return nodesAt(list)
}

func startServer(t testing.TB, path string, settings ...string) string {
	t.Helper()
	for range 20 {
		addr, err := freeAddr()
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(addr)
		cmd := exec.Command(path, append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "",
			"--appendonly", "no", "--dir", t.TempDir(), "--loglevel", "warning"}, settings...)...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		if serves(addr, cmd.Process.Pid) {
			return addr
		}
	}
	t.Fatal("redis-server did not start on any port")
	return ""
}

func freeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}

func listening(addr string) bool {
	c, err := net.Dial("tcp", addr)
	return err == nil && c.Close() == nil
}

// otherInfo is what a server calls INFO that hides it from its users.
const otherInfo = "INFO-BY-ANOTHER-NAME"

// serves reports whether the process with that pid answers on addr.
func serves(addr string, pid int) bool {
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1})
	defer c.Close()
	want := "process_id:" + strconv.Itoa(pid) + "\r\n"
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if !listening(addr) { // go-redis would log every dial that fails
			continue
		}
		info, err := c.Info(context.Background(), "server").Result()
		if err != nil {
			info, err = c.Do(context.Background(), otherInfo, "server").Text()
		}
		if err == nil {
			return len(info) > 0 && strings.Contains(info, want)
		}
	}
	return false
}

// bootstrapped returns a client of nodes that serve.
func bootstrapped(t testing.TB, nodes []lockimpl.Node, cfg redlock.Config) *redlock.Locker {
	t.Helper()
	waits := cfg
	waits.FirstTime, waits.NodeTimeout = true, time.Minute // the servers have only been started
	first := client(t, nodes, waits)
	if err := first.Bootstrap(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	return client(t, nodes, cfg)
}

func client(t testing.TB, nodes []lockimpl.Node, cfg redlock.Config) *redlock.Locker {
	t.Helper()
	l, err := redlock.NewLocker(nodes, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// splitAddr returns host and port.
func splitAddr(t testing.TB, addr string) [2]string {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return [2]string{host, port}
}

// dialTo returns a node's own way to addr.
func dialTo(addr string) func(ctx context.Context, network, _ string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
}
