package main_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"locktorture/cmd/torture/internal/redistest"
)

// proxyServer is the name under which this binary is a toxiproxy server.
const proxyServer = "toxiproxy-server"

// A deployment is what docker-compose.yml starts, as processes of this machine: five
// masters, the store, and a toxiproxy in front of them.
type deployment struct {
	addrs   []string // of the masters, then of the store
	servers []*exec.Cmd
	proxy   *exec.Cmd
	api     string // host:port of the toxiproxy's HTTP interface
}

// deploy starts one, which ends with the test.
func deploy(t *testing.T) (d deployment) {
	t.Helper()
	for range 6 {
		port := redistest.FreePort(t)
		server := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--syslog-ident", "locktorture")
		d.addrs, d.servers = append(d.addrs, "127.0.0.1:"+port), append(d.servers, server)
		startUntilTheEnd(t, server)
	}
	d.api = "127.0.0.1:" + redistest.FreePort(t)
	d.proxy = exec.Command(named(t, proxyServer), append([]string{d.api}, d.addrs...)...)
	input, err := d.proxy.StdinPipe() // at its end the server ends
	if err != nil {
		t.Fatal(err)
	}
	startUntilTheEnd(t, d.proxy)
	t.Cleanup(func() { _ = input.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), endLimit)
	defer cancel()
	for _, addr := range d.addrs {
		await(t, ctx, func() error { return reach(addr) })
	}
	await(t, ctx, func() error { return reach(d.api) })
	return d
}

func startUntilTheEnd(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
}

// await tries something until it is so.
func await(t *testing.T, ctx context.Context, so func() error) {
	t.Helper()
	for {
		err := so()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func reach(addr string) error {
	conn, err := net.Dial("tcp", addr)
	if err == nil {
		err = conn.Close()
	}
	return err
}

// named is this binary under the name that makes it a command.
func named(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// proxies is a toxiproxy server. Its first argument is the address of its HTTP
// interface; the others are those of the servers that docker-compose.yml calls n1 to n5
// and store.
func proxies() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	var names []string
	for i, addr := range os.Args[2:] {
		name := fmt.Sprintf("n%d:6379", i+1)
		if i == 5 {
			name = "store:6379"
		}
		names = append(names, `"`+name+`"`, `"`+addr+`"`)
	}
	resolve := strings.NewReplacer(names...)
	routes := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()).Routes()
	fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = []byte(resolve.Replace(string(body)))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		routes.ServeHTTP(w, r)
	})))
	os.Exit(1)
}

// delayServer is the name under which this binary is a toxiproxy between three workers and
// what they reach.
const delayServer = "delaying-toxiproxy"

// delays has what worker i of three sends to a port of a host, and gets from there, come
// 3·i ms later, on the port that is 10000·i higher. Its argument is the host.
func delays() {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	for i := 1; i <= 3; i++ {
		for _, port := range []int{7000, 7001, 7002, 7003, 7004, 7005, 4222} {
			at := func(port int) string { return net.JoinHostPort(os.Args[1], fmt.Sprint(port)) }
			proxy := toxiproxy.NewProxy(server, fmt.Sprintf("w%d-%d", i, port), at(port+10000*i), at(port))
			err := server.Collection.Add(proxy, false)
			for _, stream := range []string{"upstream", "downstream"} {
				if err == nil {
					_, err = proxy.Toxics.AddToxicJson(strings.NewReader(fmt.Sprintf(`{"type": "latency", "stream": %q, "attributes": {"latency": %d, "jitter": 2}}`, stream, 3*i)))
				}
			}
			if err == nil {
				err = proxy.Start()
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}
	select {}
}
