package catalogue

import (
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os/exec"
	"slices"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"locktorture/faults"
	"locktorture/faults/internal/faulttest"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

// onBothFabrics runs a directed test on a real Redis, through toxiproxy in this
// process and through a toxiproxy server.
func onBothFabrics(t *testing.T, test func(t *testing.T, r *rig)) {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	api := httptest.NewServer(server.Routes())
	t.Cleanup(api.Close)
	for name, fabric := range map[string]link.Fabric{
		"embedded": link.NewEmbedded(),
		"remote":   link.NewRemote(link.RemoteConfig{API: api.Listener.Addr().String(), RunID: "pieces", FirstPort: 24000, LastPort: 24999}),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("redis-server"); err != nil {
				_ = fabric.Close()
				faulttest.Missing(t, err)
			}
			bed, err := testbed.StartProcess(t.Context(), testbed.ProcessConfig{Nodes: 1, Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			test(t, rigOn(t, bed, 1, fabric))
		})
	}
}

// speak opens a connection that has already answered once.
func (r *rig) speak(t *testing.T) net.Conn {
	t.Helper()
	conn, err := r.Link("c00", "n1").Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	send(t, conn, "PING\r\n")
	listen(t, conn, "+PONG\r\n")
	return conn
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

// listen waits for a reply and returns in how many reads it came.
func listen(t *testing.T, conn net.Conn, want string) (reads int) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(faulttest.Late))
	var got []byte
	buf := make([]byte, 512)
	for len(got) < len(want) {
		n, err := conn.Read(buf)
		got = append(got, buf[:n]...)
		if reads++; err != nil {
			t.Fatalf("heard %q, %v; want %q", got, err, want)
		}
	}
	if string(got) != want {
		t.Fatalf("heard %q, want %q", got, want)
	}
	return reads
}

// A sliced reply comes whole, in more reads than one.
func TestSlicer(t *testing.T) {
	onBothFabrics(t, func(t *testing.T, r *rig) {
		conn := r.speak(t)
		f := r.inject(t, "slicer", faults.Params{Delay: 20 * time.Millisecond})
		send(t, conn, "SET k v\r\n")
		if reads := listen(t, conn, "+OK\r\n"); reads < 2 {
			t.Errorf("the reply came in %d read", reads)
		}
		if got := r.Get(t, r.Node("n1"), "k"); got != "v" {
			t.Errorf("the node stores %s", got)
		}
		f.healed(t, "cut in pieces", "reads ended inside a reply", "c00→n1")
		send(t, conn, "PING\r\n")
		listen(t, conn, "+PONG\r\n")
	})
}

// A torn reply is what the client was told before the connection ended; the
// command took effect.
func TestLimitData(t *testing.T) {
	for _, bytes := range []int64{0, 1, 4} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			onBothFabrics(t, func(t *testing.T, r *rig) {
				conn := r.speak(t)
				f := r.inject(t, "limit-data", faults.Params{Client: "c00", Bytes: bytes})
				send(t, conn, "SET k v\r\n")
				_ = conn.SetReadDeadline(time.Now().Add(faulttest.Late))
				got, err := io.ReadAll(conn)
				want := []string{"+OK\r\n"[:bytes]}
				if bytes == 0 { // drawn
					want = []string{"+", "+O"}
				}
				if err != nil || !slices.Contains(want, string(got)) {
					t.Errorf("heard %q, %v; want one of %q and the end", got, err, want)
				}
				r.await(t, r.Node("n1"), "k", "v")
				f.healed(t, "1 replies torn", "c00→n1")
				r.speak(t)
			})
		})
	}
}

// A client whose connection the node has closed does not hear of it for the
// fault's delay, and what it sends meanwhile is lost.
func TestSlowClose(t *testing.T) {
	onBothFabrics(t, func(t *testing.T, r *rig) {
		conn := r.speak(t)
		const delay = 300 * time.Millisecond
		began := time.Now()
		f := r.inject(t, "slow-close", faults.Params{Delay: delay})
		time.Sleep(delay / 3) // the link is to see the node's end before anything is sent
		send(t, conn, "SET k v\r\n")
		_ = conn.SetReadDeadline(time.Now().Add(faulttest.Late))
		got, err := io.ReadAll(conn)
		if err != nil || len(got) > 0 {
			t.Errorf("heard %q, %v; want the end alone", got, err)
		}
		if took := time.Since(began); took < delay {
			t.Errorf("the end came after %v, want %v at least", took, delay)
		}
		if got := r.Get(t, r.Node("n1"), "k"); got != "<nil>" {
			t.Errorf("the node stores %s", got)
		}
		r.speak(t)
		f.healed(t, "1 connections", "c00→n1")
	})
}

// An idle connection that nobody used while its end was kept back proves
// nothing.
func TestSlowCloseUnnoticedHasNoReceipt(t *testing.T) {
	onBothFabrics(t, func(t *testing.T, r *rig) {
		r.speak(t)
		f := r.inject(t, "slow-close", faults.Params{Delay: time.Hour})
		res, err := f.wait()
		if err != nil || !res.Healed || res.TookEffect {
			t.Errorf("%+v, %v", res, err)
		}
	})
}
