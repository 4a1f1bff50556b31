package testbed

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"locktorture/faults/internal/ports"
	"locktorture/faults/testbed/internal/proc"
	"locktorture/faults/testbed/server"
)

// composeServers starts two servers with a syslog-ident, one key in each, as a
// run that died leaves them.
func composeServers(t *testing.T, ident string) ComposeConfig {
	binary, err := findServer("")
	require(t, err)
	picker := ports.Servers.Picker()
	var addrs []string
	for range 2 {
		port := picker.Free()
		cmd := exec.Command(binary, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--syslog-ident", ident)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
		})
		n := &externalNode{name: "n1", at: server.Endpoint{Addr: ports.Loopback(port)}}
		for ctx := testContext(t); ; {
			if _, err := Do(ctx, n, "SET", "left", "over"); err == nil {
				break
			} else if ctx.Err() != nil {
				t.Fatal(err)
			}
			time.Sleep(proc.Poll)
		}
		addrs = append(addrs, n.Addr())
	}
	return ComposeConfig{Addrs: addrs[:1], Store: addrs[1], Upstreams: []string{"n1:6379", "store:6379"}}
}

func TestComposeEmptiesItsServersAndHoldsThemAlone(t *testing.T) {
	c := composeServers(t, composeMark)
	b, err := StartCompose(testContext(t), c)
	if err != nil {
		t.Fatal(err)
	}
	do(t, b.Nodes()[0], int64(0), "DBSIZE")
	do(t, b.Store(), int64(0), "DBSIZE")
	if up := b.Nodes()[0].(Upstreamer).Upstream(); up != "n1:6379" || b.Name() != KindCompose {
		t.Errorf("%s: n1 is %s to its proxy", b.Name(), up)
	}
	do(t, b.Nodes()[0], "OK", "SET", "k", "v")
	if _, err := StartCompose(testContext(t), c); err == nil || !strings.Contains(err.Error(), "another torture run") {
		t.Errorf("a second harness: %v", err)
	}
	do(t, b.Nodes()[0], "v", "GET", "k")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := StartCompose(testContext(t), c)
	if err != nil {
		t.Fatalf("when the first is gone: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func TestComposeEmptiesNoServerWithoutTheMark(t *testing.T) {
	c := composeServers(t, "redis")
	_, err := StartCompose(testContext(t), c)
	if err == nil || !strings.Contains(err.Error(), "none of docker-compose.yml's servers") {
		t.Errorf("StartCompose: %v", err)
	}
	do(t, &externalNode{name: "n1", at: server.Endpoint{Addr: c.Addrs[0]}}, "over", "GET", "left")
}
