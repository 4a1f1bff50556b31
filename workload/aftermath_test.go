package workload_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"locktorture/lockimpl"
	"locktorture/workload"
	"locktorture/workload/history"
)

// A node is a server to look at.
type node struct{ name, addr string }

func (n node) Name() string { return n.name }
func (n node) Dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", n.addr)
}

// A key without expiry is left; the lease of a dead holder is seen once and
// then runs out; a node that does not answer is recorded.
func TestLeftovers(t *testing.T) {
	r := newRig(t, 2)
	cfg := load()
	cfg.Keys, cfg.TTL, cfg.Duration = 3, 2*time.Second, 30*time.Millisecond
	nodes := []workload.Node{node{"n1", r.locks.Addr()}, node{"n2", "127.0.0.1:1"}}
	var left int
	events := record(t, func(rec *history.Recorder) {
		if err := workload.Run(t.Context(), cfg, r.clients, rec); err != nil {
			t.Fatal(err)
		}
		r.locks.Set("lock:k1", "for ever")
		r.locks.Set("lock:k2", "for a while")
		r.locks.SetTTL("lock:k2", cfg.TTL)
		var err error
		if left, err = workload.Leftovers(t.Context(), cfg, &testLock{}, nodes, rec); err != nil {
			t.Fatal(err)
		}
	})
	var seen []string
	down := 0
	for _, e := range events {
		switch {
		case e.Op != history.Key:
		case e.Kind == history.Fail && e.Node == "n2" && e.Err != "":
			down++
		case e.PTTL > 0:
			seen = append(seen, e.Key+" expires")
		case e.PTTL == -1:
			seen = append(seen, e.Key+" stays for "+e.Holder)
		case e.PTTL == -2:
			seen = append(seen, e.Key+" absent")
		}
	}
	const want = "k1 stays for for ever, k2 expires, k0 absent, k1 stays for for ever, k2 absent"
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("saw %s, want %s", got, want)
	}
	if left != 1 || down != 2 {
		t.Errorf("%d left, %d times down", left, down)
	}
}

func TestLeftoversNeedsKeyNames(t *testing.T) {
	silent := &tableLock{&table{cells: map[string]*cell{}}, "a"}
	for _, lock := range []lockimpl.Locker{silent, namesNone{silent}} {
		_, err := workload.Leftovers(t.Context(), load(), lock, nil, history.NewRecorder())
		var lack *workload.LacksError
		if !errors.As(err, &lack) {
			t.Errorf("%T: %v", lock, err)
		}
	}
}

// namesNone is a lock that has no keys that bear leases.
type namesNone struct{ lockimpl.Locker }

func (namesNone) LeaseKeys(string) []string { return nil }
