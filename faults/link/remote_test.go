package link

import (
	"errors"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

func TestSweepRemovesOneRunsLeftovers(t *testing.T) {
	api, server := startToxiproxy(t)
	mine := RemoteConfig{API: api, RunID: "dead", FirstPort: 25000, LastPort: 25999}
	other := mine
	other.RunID = "alive"
	r, spared := newRig(t, NewRemote(mine)), newRig(t, NewRemote(other))
	r.impair(Impairment{Kind: Stall})
	spared.impair(Impairment{Kind: Delay, Delay: time.Millisecond})
	swept, err := Sweep(testContext(t), mine)
	if err != nil || len(swept) != 1 || swept[0] != "locktorture.dead.c1.n1" {
		t.Errorf("swept %q, %v", swept, err)
	}
	left := server.Collection.Proxies()
	if len(left) != 1 || left["locktorture.alive.c1.n1"] == nil {
		t.Errorf("left %v", left)
	}
	if n := len(left["locktorture.alive.c1.n1"].Toxics.GetToxicArray()); n != 2 {
		t.Errorf("%d of the other run's toxics are left, want 2", n)
	}
	if _, err := r.link.Impair(testContext(t), Impairment{Kind: Cut}); err == nil {
		t.Error("a swept link could be impaired")
	}
	for a := range r.link.inForce { // what it had cannot be healed any more
		delete(r.link.inForce, a)
	}
}

func TestRemoteRefusesToOverlap(t *testing.T) {
	api, _ := startToxiproxy(t)
	r := newRig(t, NewRemote(RemoteConfig{API: api, RunID: "r"}))
	up := r.impair(Impairment{Kind: Zombie})
	if _, err := r.link.Impair(testContext(t), Impairment{Kind: RequestLost}); !errors.Is(err, ErrOverlap) {
		t.Errorf("second impairment upstream: %v", err)
	}
	down := r.impair(Impairment{Kind: SlowReply})
	cut := r.impair(Impairment{Kind: Cut})
	for _, w := range []*applied{up, cut, down} {
		r.heal(w)
	}
	r.dial()
}

func TestRemoteSkipsTakenPorts(t *testing.T) {
	api, _ := startToxiproxy(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	first := taken.Addr().(*net.TCPAddr).Port
	r := newRemote(RemoteConfig{API: api, RunID: "r", FirstPort: first, LastPort: first + 50})
	_, addr, err := r.open(testContext(t), "c1.n1", "127.0.0.1:1")
	if err != nil || addr == taken.Addr().String() {
		t.Errorf("opened %s, %v", addr, err)
	}
	if err := r.close(testContext(t)); err != nil {
		t.Error(err)
	}
}

func TestUnreachableToxiproxyIsAnError(t *testing.T) {
	f := NewRemote(RemoteConfig{API: "127.0.0.1:1", RunID: "r"})
	if _, err := f.Open(testContext(t), "c1", "n1", "127.0.0.1:2"); err == nil {
		t.Error("opened a link through nothing")
	}
}

func TestDelayDraws(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		impair   Impairment
		low, top time.Duration
	}{
		{Impairment{Delay: 5 * ms}, 5 * ms, 5 * ms},
		{Impairment{Delay: 5 * ms, Jitter: 2 * ms}, 3 * ms, 7 * ms},
		{Impairment{Delay: ms, Jitter: 5 * ms}, 0, 6 * ms},
		{Impairment{Delay: 5 * ms, Jitter: ms, Spread: Exponential}, 5 * ms, time.Hour},
		{Impairment{Delay: 5 * ms, Jitter: ms, Spread: HeavyTail}, 5 * ms, 105 * ms},
	} {
		again := rand.New(rand.NewPCG(1, 2))
		rng := rand.New(rand.NewPCG(1, 2))
		distinct := map[time.Duration]bool{}
		for range 1000 {
			d := c.impair.delay(rng)
			if d < c.low || d > c.top {
				t.Errorf("%+v drew %s", c.impair, d)
			}
			if d != c.impair.delay(again) {
				t.Errorf("%+v: the same seed drew another delay", c.impair)
			}
			distinct[d] = true
		}
		if c.impair.Jitter > 0 && len(distinct) < 100 {
			t.Errorf("%+v drew only %d distinct delays", c.impair, len(distinct))
		}
	}
}

// TestCheckRemote asks after the links of a toxiproxy server that somebody else
// empties, fills again as a new one, and closes. A fabric that is closed itself
// asks no more.
func TestCheckRemote(t *testing.T) {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	web := httptest.NewServer(server.Routes())
	t.Cleanup(func() {
		web.Close()
		if err := server.Collection.Clear(); err != nil {
			t.Error(err)
		}
	})
	api := web.Listener.Addr().String()
	f := NewRemote(RemoteConfig{API: api, RunID: "r"})
	for _, node := range []string{"n1", "n2"} {
		if _, err := f.Open(testContext(t), "c1", node, "127.0.0.1:1"); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want string) {
		t.Helper()
		err := Check(testContext(t), f)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "toxiproxy at "+api)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	check("")
	if err := server.Collection.Remove("locktorture.r.c1.n2"); err != nil {
		t.Fatal(err)
	}
	check("1 of this run's 2 proxies are left")
	web.CloseClientConnections()
	web.Close()
	check("does not answer any more")
	_ = f.Close() // the server is gone
	check("")
	if err := Check(testContext(t), NewEmbedded()); err != nil {
		t.Errorf("links of this process: %v", err)
	}
}
