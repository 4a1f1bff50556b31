package store_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

type dialer = func(ctx context.Context) (net.Conn, error)

func dialTo(addr string) dialer {
	return func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", addr)
	}
}

// onBoth runs test against miniredis and against redis-server.
func onBoth(t *testing.T, test func(t *testing.T, dial dialer)) {
	t.Run("miniredis", func(t *testing.T) {
		test(t, dialTo(miniredis.RunT(t).Addr()))
	})
	t.Run("redis-server", func(t *testing.T) {
		test(t, dialTo(redisServer(t)))
	})
}

// redisServer starts a redis-server for the test and returns its address.
func redisServer(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("LOCKTORTURE_REQUIRE_ALL") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir, err := os.MkdirTemp("/tmp", "store")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for range 10 {
		addr := freeAddr(t)
		if startRedis(t, path, dir, addr) {
			return addr
		}
	}
	t.Fatal("redis-server did not start on any of ten ports")
	return ""
}

func startRedis(t *testing.T, path, dir, addr string) bool {
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command(path, "--bind", "127.0.0.1", "--port", port, "--save", "", "--dir", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { defer close(exited); _ = cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-exited })
	for {
		select {
		case <-exited:
			return false
		case <-time.After(2 * time.Millisecond):
		}
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			return true
		}
	}
}

// freeAddr finds a port outside the ephemeral range, which an outgoing
// connection cannot take before the server does.
func freeAddr(t *testing.T) string {
	t.Helper()
	for port := 21000 + os.Getpid()%5000; port < 32000; port++ {
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no free port")
	return ""
}
