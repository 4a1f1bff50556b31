package gallery

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/lockimpl"
)

// dead is a node that nobody listens at.
func dead(n lockimpl.Node) lockimpl.Node {
	n.Addr = "127.0.0.1:1"
	return n
}

// TestSecondQuorum cuts two clients off from different minorities, so that one
// master decides. When it forgets, both hold.
func TestSecondQuorum(t *testing.T) {
	for _, c := range []struct {
		id, name string
		forgets  bool
	}{
		{"redlock-plain", "swing node keeps its data", false}, {"redlock-plain", "swing node comes back empty", true},
		{"redisson-redlock", "swing node keeps its data", false}, {"redisson-redlock", "swing node comes back empty", true},
	} {
		t.Run(c.id+", "+c.name, func(t *testing.T) {
			servers, n := cluster(t, 5)
			left := []lockimpl.Node{n[0], n[1], n[2], dead(n[3]), dead(n[4])}
			right := []lockimpl.Node{dead(n[0]), dead(n[1]), n[2], n[3], n[4]}
			a, b := open(t, factory(t, c.id), left), open(t, factory(t, c.id), right)
			first := mustAcquire(t, a, "k")
			if c.forgets {
				servers[2].FlushAll()
			}
			second, err := acquire(t, b, "k")
			if granted := err == nil; granted != c.forgets {
				t.Fatalf("second grant: %t (%v), want %t", granted, err, c.forgets)
			}
			if c.forgets && second.ValidUntil().Before(first.ValidUntil()) {
				t.Error("the promises do not overlap")
			}
		})
	}
}

// manyMasters are the recipes that ask a majority.
var manyMasters = []string{"redlock-plain", "redisson-redlock"}

// TestBallotDecides counts: a minority of dead masters changes nothing, a
// majority makes the answer definite, and whatever was granted is undone.
func TestBallotDecides(t *testing.T) {
	for _, id := range manyMasters {
		t.Run(id, func(t *testing.T) {
			servers, n := cluster(t, 5)
			f := factory(t, id)
			a := open(t, f, []lockimpl.Node{n[0], n[1], n[2], dead(n[3]), dead(n[4])})
			lease := mustAcquire(t, a, "k")
			b := open(t, f, n)
			mustRefuse(t, b, "k")
			for _, s := range servers[3:] {
				if s.Exists("k") {
					t.Error("a partial grant was not undone")
				}
			}
			mustRelease(t, lease)
			c := open(t, f, []lockimpl.Node{n[0], n[1], dead(n[2]), dead(n[3]), dead(n[4])})
			if _, err := acquire(t, c, "k"); !errors.Is(err, lockimpl.ErrNoQuorum) {
				t.Errorf("acquire from two of five: %v, want ErrNoQuorum", err)
			}
			for _, s := range servers {
				if s.Exists("k") {
					t.Error("a partial grant was not undone")
				}
			}
		})
	}
}

// TestUndoReachesWhoDidNotAnswer loses the reply of one master to an attempt
// that a majority refuses: its grant is undone too.
func TestUndoReachesWhoDidNotAnswer(t *testing.T) {
	for id, command := range map[string]string{"redlock-plain": "$3\r\nset\r\n", "redisson-redlock": "evalsha"} {
		t.Run(id, func(t *testing.T) {
			servers, n := cluster(t, 5)
			f := factory(t, id)
			mustRelease(t, mustAcquire(t, open(t, f, n), "warm")) // the masters know the scripts
			mustAcquire(t, open(t, f, []lockimpl.Node{n[0], n[1], n[2], dead(n[3]), dead(n[4])}), "k")
			w, lossy := wired(n[4:])
			b := open(t, f, append(append([]lockimpl.Node{}, n[:4]...), lossy...))
			w.loseReply(command)
			mustRefuse(t, b, "k")
			<-w.caught
			if servers[4].Exists("k") {
				t.Error("the master whose reply was lost was not asked to undo")
			}
		})
	}
}

// TestSilentMasterIsPassedOver has one master say nothing for ever.
func TestSilentMasterIsPassedOver(t *testing.T) {
	for _, id := range manyMasters {
		t.Run(id, func(t *testing.T) {
			_, n := cluster(t, 5)
			w, silent := wired(n[:1])
			w.swallow()
			ctx, cancel := context.WithTimeout(t.Context(), ttl/2)
			defer cancel()
			l := open(t, factory(t, id), append(silent, n[1:]...))
			err := errNoMajority
			for errors.Is(err, errNoMajority) && ctx.Err() == nil {
				_, err = l.Acquire(ctx, "k", ttl)
			}
			if err != nil {
				t.Errorf("acquire with one master silent: %v, want a grant by the others", err)
			}
		})
	}
}

// TestMastersInTurn has no master asked before the one before it has answered.
func TestMastersInTurn(t *testing.T) {
	for _, id := range manyMasters {
		t.Run(id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, links, n := virtualCluster(t, 5)
				var asked atomic.Int64
				for i, link := range links {
					n[i].Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
						c, err := link.Dial(ctx, network, addr)
						return &counted{Conn: c, asked: &asked, t: t}, err
					}
				}
				mustAcquire(t, open(t, factory(t, id), n), "k")
			})
		})
	}
}

// A counted connection fails its test when it asks while another is waited for.
type counted struct {
	net.Conn
	asked   *atomic.Int64 // masters that owe an answer
	waiting bool
	t       *testing.T
}

func (c *counted) Write(p []byte) (int, error) {
	if c.waiting = true; c.asked.Add(1) > 1 {
		c.t.Error("a master was asked before another had answered")
	}
	time.Sleep(time.Millisecond) // who asks all at once is sure to be seen
	return c.Conn.Write(p)
}

// Read ends the wait.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.waiting {
		c.waiting = false
		c.asked.Add(-1)
	}
	return n, err
}

// TestPartsAreLostUnseen empties a majority of the masters under a holder: the
// rest keeps its promise moving, and another gets in.
func TestPartsAreLostUnseen(t *testing.T) {
	servers, n := cluster(t, 5)
	a, b := open(t, RedissonRedlock(), n), open(t, RedissonRedlock(), n)
	lease, err := a.Acquire(t.Context(), "k", 2*time.Second)
	for errors.Is(err, errNoMajority) {
		lease, err = a.Acquire(t.Context(), "k", 2*time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers[:3] {
		s.FlushAll()
	}
	mustAcquire(t, b, "k")
	lost, seen := time.Now().Add(2*time.Second), rounds(t, lease)
	for range 200 {
		if r := <-seen; r.ValidUntil.After(lost) {
			break
		}
	}
	if until := lease.ValidUntil(); !until.After(lost) {
		t.Errorf("valid until %v, want more than a TTL after the loss at %v", until, lost.Add(-2*time.Second))
	}
	if _, told := lease.(lockimpl.LostNotifier); told {
		t.Error("the lease tells of its loss; the recipe does not")
	}
}

// TestNoTimeLeft wins every vote too late to be of use.
func TestNoTimeLeft(t *testing.T) {
	_, n := cluster(t, 5)
	a := open(t, RedlockPlain(), n)
	mustRelease(t, mustAcquire(t, a, "k")) // connections are open
	if _, err := a.Acquire(t.Context(), "k", driftFloor); err == nil {
		t.Fatal("held a lease whose validity is its drift allowance")
	}
}
