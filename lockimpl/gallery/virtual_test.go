package gallery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"

	"locktorture/lockimpl"
	"locktorture/lockimpl/internal/conn"
	"locktorture/lockimpl/internal/memnet"
)

// virtually plays test with one server in virtual time.
func virtually(t *testing.T, test func(t *testing.T, m *miniredis.Miniredis, node lockimpl.Node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		servers, _, nodes := virtualCluster(t, 1)
		test(t, servers[0], nodes[0])
	})
}

// virtualCluster starts n empty masters in virtual time, each behind a link.
func virtualCluster(t *testing.T, n int) ([]*miniredis.Miniredis, []*memnet.Link, []lockimpl.Node) {
	t.Helper()
	servers, links, nodes := make([]*miniredis.Miniredis, n), make([]*memnet.Link, n), make([]lockimpl.Node, n)
	for i := range n {
		m := miniredis.NewMiniRedis()
		m.ClockTTL(true)
		c, err := m.Dial() // starts it without a listener
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		m.Server().SetPreHook(acknowledge)
		t.Cleanup(m.Close)
		servers[i], links[i] = m, memnet.New(m.Server().ServeConn)
		name := fmt.Sprintf("n%d", i+1)
		nodes[i] = lockimpl.Node{Name: name, Addr: name, Dial: links[i].Dial}
	}
	return servers, links, nodes
}

// A diary notes when commands were sent that contain a word.
type diary struct {
	word  string
	began time.Time

	mu   sync.Mutex
	sent []time.Duration
}

func (d *diary) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent = nil
}

func (d *diary) at() []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.sent)
}

// noted returns node with what is sent to it in a diary.
func noted(node lockimpl.Node, word string) (*diary, lockimpl.Node) {
	d := &diary{word: word, began: time.Now()}
	dial := node.Dial
	node.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		return notedConn{c, d}, err
	}
	return d, node
}

type notedConn struct {
	net.Conn
	diary *diary
}

func (c notedConn) Write(p []byte) (int, error) {
	if bytes.Contains(bytes.ToLower(p), []byte(c.diary.word)) {
		c.diary.mu.Lock()
		c.diary.sent = append(c.diary.sent, time.Since(c.diary.began))
		c.diary.mu.Unlock()
	}
	return c.Conn.Write(p)
}

// times are n instants, the first one and one after every step.
func times(first, step time.Duration, n int) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = first + time.Duration(i)*step
	}
	return out
}

// TestPollingTimes holds the instants of the tries, and the end of the wait: the
// interval comes after the last try too.
func TestPollingTimes(t *testing.T) {
	virtually(t, func(t *testing.T, m *miniredis.Miniredis, node lockimpl.Node) {
		mustAcquire(t, open(t, Polling(), []lockimpl.Node{node}), "k")
		d, node := noted(node, "$3\r\nset\r\n")
		waiter := open(t, Polling(), []lockimpl.Node{node}).(lockimpl.WaitLocker)
		_, err := waiter.AcquireWait(t.Context(), "k", ttl)
		if !errors.Is(err, lockimpl.ErrHeld) {
			t.Errorf("wait: %v, want ErrHeld", err)
		}
		if got, want := d.at(), times(0, 100*time.Millisecond, 5); !slices.Equal(got, want) {
			t.Errorf("tried at %v, want %v", got, want)
		}
		if took := time.Since(d.began); took != 500*time.Millisecond {
			t.Errorf("gave up after %v, want an interval after the last try", took)
		}
	})
}

// TestPollingEndsWithAnError breaks the server: the first error is "not taken",
// at once.
func TestPollingEndsWithAnError(t *testing.T) {
	virtually(t, func(t *testing.T, m *miniredis.Miniredis, node lockimpl.Node) {
		d, node := noted(node, "$3\r\nset\r\n")
		l := open(t, Polling(), []lockimpl.Node{node}).(lockimpl.WaitLocker)
		m.SetError("the server is broken")
		if _, err := l.AcquireWait(t.Context(), "k", ttl); !errors.Is(err, lockimpl.ErrHeld) {
			t.Errorf("wait with an error: %v, want ErrHeld", err)
		}
		if got := d.at(); len(got) != 1 || time.Since(d.began) != 0 {
			t.Errorf("tried at %v and ended after %v, want one try and no pause", got, time.Since(d.began))
		}
	})
}

// know loads all scripts, so that each is sent once.
func know(t *testing.T, node lockimpl.Node) {
	t.Helper()
	rdb := conn.Open(node)
	defer rdb.Close()
	for _, s := range scripts {
		if err := s.Load(t.Context(), rdb).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRenewalTimes holds the instants of renewals that nobody ends.
func TestRenewalTimes(t *testing.T) {
	for _, c := range []struct {
		id   string
		want []time.Duration // until 5.5 TTLs have passed
	}{
		{"renew-limited", times(0, ttl, 4)},
		{"token-watchdog", times(ttl/3, ttl/3, 16)},
		{"redisson-hash", times(ttl/3, ttl/3, 16)},
		{"retry-on-error-hash", times(ttl/3, ttl/3, 16)},
	} {
		t.Run(c.id, func(t *testing.T) {
			virtually(t, func(t *testing.T, m *miniredis.Miniredis, node lockimpl.Node) {
				know(t, node)
				d, node := noted(node, "evalsha")
				l := open(t, factory(t, c.id), []lockimpl.Node{node})
				lease := mustAcquire(t, l, "k")
				d.clear() // of the acquisition's own
				lease.(lockimpl.Renewer).Renew(nil)
				time.Sleep(5*ttl + ttl/2)
				if got := d.at(); !slices.Equal(got, c.want) {
					t.Errorf("renewed at %v, want %v", got, c.want)
				}
			})
		})
	}
}

// TestRoundsAfterAnError breaks the server for one round, which is sent once,
// since the server has answered. The next one renews, or there is none.
func TestRoundsAfterAnError(t *testing.T) {
	for _, c := range []struct {
		id    string
		after []time.Duration // until 1.5 TTLs have passed
	}{
		{"token-watchdog", times(ttl/3*2, ttl/3, 3)}, {"redisson-hash", nil}, {"retry-on-error-hash", nil},
	} {
		t.Run(c.id, func(t *testing.T) {
			virtually(t, func(t *testing.T, m *miniredis.Miniredis, node lockimpl.Node) {
				know(t, node)
				d, node := noted(node, "evalsha")
				mustAcquire(t, open(t, factory(t, c.id), []lockimpl.Node{node}), "k")
				d.clear() // of the acquisition's own
				m.SetError("the server is broken")
				time.Sleep(ttl / 2)
				if got := d.at(); !slices.Equal(got, times(ttl/3, 0, 1)) {
					t.Errorf("renewed at %v while the server was broken, want once, after %v", got, ttl/3)
				}
				m.SetError("")
				d.clear()
				time.Sleep(ttl)
				if got := d.at(); !slices.Equal(got, c.after) {
					t.Errorf("renewed at %v after the error, want %v", got, c.after)
				}
			})
		})
	}
}

// TestReleaseStopsTheWatchdog lets no time pass between a release and the end of
// its renewal.
func TestReleaseStopsTheWatchdog(t *testing.T) {
	for _, id := range []string{"token-watchdog", "redisson-hash", "retry-on-error-hash"} {
		t.Run(id, func(t *testing.T) {
			virtually(t, func(t *testing.T, m *miniredis.Miniredis, node lockimpl.Node) {
				know(t, node)
				d, node := noted(node, "evalsha")
				l := open(t, factory(t, id), []lockimpl.Node{node})
				mustRelease(t, mustAcquire(t, l, "k"))
				d.clear()
				time.Sleep(2 * ttl)
				if got := d.at(); len(got) != 0 {
					t.Errorf("renewed at %v after the release", got)
				}
			})
		})
	}
}
