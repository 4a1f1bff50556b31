// Package redistest starts a redis-server for one test.
package redistest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// requireAll names the environment variable that forbids skipping.
	requireAll = "LOCKTORTURE_REQUIRE_ALL"

	// Ports below the kernel's ephemeral range cannot be stolen by an outgoing
	// connection.
	lowPort, highPort = 20000, 32000

	attempts = 10
)

// Need skips the test, or fails it where nothing may be skipped, because what
// it needs is not there.
func Need(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(requireAll) == "1" {
		t.Fatalf("missing: %s", what)
	}
	t.Skipf("missing: %s", what)
}

// Start runs an empty redis-server without persistence until the test ends, with
// further arguments if there are any, and returns a client of it.
func Start(t testing.TB, args ...string) *redis.Client {
	t.Helper()
	bin, err := exec.LookPath("redis-server")
	if err != nil {
		Need(t, "redis-server")
	}
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(time.Now().UnixNano())))
	for range attempts {
		if rdb := try(t, bin, lowPort+rng.IntN(highPort-lowPort), args); rdb != nil {
			return rdb
		}
	}
	t.Fatal("start redis-server: no free port")
	return nil
}

// try starts a server on port, or returns nil when the port is taken.
func try(t testing.TB, bin string, port int, args []string) *redis.Client {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(bin, append([]string{"--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--daemonize", "no", "--dir", dir, "--logfile", filepath.Join(dir, "redis.log")}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start redis-server: %v", err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // it is killed, or the port was taken
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-exited
	})
	addr := net.JoinHostPort("127.0.0.1", fmt.Sprint(port))
	rdb := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = rdb.Close() })
	mine := fmt.Sprintf("process_id:%d\r\n", cmd.Process.Pid)
	for {
		if listening(addr) && strings.Contains(rdb.Info(t.Context(), "server").Val(), mine) {
			return rdb
		}
		select {
		case <-exited:
			return nil
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// listening says whether anybody answers at addr, without go-redis, which logs
// every dial that fails.
func listening(addr string) bool {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return false
	}
	return c.Close() == nil
}
