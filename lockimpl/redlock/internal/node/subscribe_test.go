package node

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locktorture/lockimpl/internal/memnet"
)

// A road is the way of one subscription to one server in virtual time.
type road struct {
	link *memnet.Link

	mu    sync.Mutex
	since time.Time       // of the dials
	dials []time.Duration // when
	ready int             // how often the subscription came into force
}

func (r *road) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	r.mu.Lock()
	r.dials = append(r.dials, time.Since(r.since))
	r.mu.Unlock()
	return r.link.Dial(ctx, network, addr)
}

func (r *road) inForce() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ready++
}

// after returns when the subscription dialled in the next d, and how often it
// came into force.
func (r *road) after(d time.Duration, meanwhile func()) (dials []time.Duration, ready int) {
	r.mu.Lock()
	r.since, r.dials, r.ready = time.Now(), nil, 0
	r.mu.Unlock()
	meanwhile()
	return r.within(d)
}

// within is what after returns, of all that there was until d is over.
func (r *road) within(d time.Duration) (dials []time.Duration, ready int) {
	time.Sleep(d)
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dials, r.ready
}

// subscribe runs a subscription until the test ends. Its pauses are as long as
// a share of their spread: 0 is the shortest, 1 the longest.
func subscribe(t *testing.T, share float64) *road {
	server := miniredis.NewMiniRedis()
	c, err := server.Dial() // starts it without a listener
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	t.Cleanup(server.Close)
	r := &road{link: memnet.New(server.Server().ServeConn), since: time.Now()}
	n := New(Config{Name: "n", Timeout: time.Second, Options: &redis.Options{Dialer: r.dial}})
	ctx, cancel := context.WithCancel(t.Context())
	subscriber := Subscriber{
		Ready: r.inForce,
		Hear:  func(string) {},
		Draw:  func(n int64) int64 { return int64(share * float64(n)) },
	}
	done := make(chan struct{})
	go func() { defer close(done); n.Subscribe(ctx, "c", subscriber) }()
	t.Cleanup(func() {
		cancel()
		<-done
		if err := n.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return r
}

// While nobody is there a subscription asks ever more rarely, up to a bound,
// and not at the same pace as all others.
func TestSubscribeBacksOff(t *testing.T) {
	for share, want := range map[float64][]int{
		0: {25, 50, 100, 200, 400, 500, 500, 500},
		1: {50, 100, 200, 400, 800, 1000, 1000, 1000},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := subscribe(t, share)
			time.Sleep(time.Minute)
			dials, _ := r.after(time.Minute, func() { r.link.Refuse(true); r.link.Cut() })
			var last time.Duration
			for i, ms := range want {
				if pause := dials[i] - last; pause != time.Duration(ms)*time.Millisecond {
					t.Errorf("share %g: pause %d is %v; want %d ms", share, i+1, pause, ms)
				}
				last = dials[i]
			}
		})
	}
}

// A subscription that is cut whenever it is in force backs off as well. One
// that has lasted is renewed soon.
func TestSubscribeAfterCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := subscribe(t, 1)
		if dials, ready := r.within(time.Minute); len(dials) != 1 || ready != 1 {
			t.Fatalf("dials %v, %d times in force; want one and once", dials, ready)
		}
		again := func(when string) {
			if dials, ready := r.after(time.Minute, r.link.Cut); len(dials) != 1 || dials[0] != resubscribe || ready != 1 {
				t.Errorf("cut %s: dials %v, %d times in force; want one after %v", when, dials, ready, resubscribe)
			}
		}
		again("once")
		dials, ready := r.after(0, func() {
			for began := time.Now(); time.Since(began) < time.Minute; {
				r.link.Cut()
				time.Sleep(7 * time.Millisecond) // divides no pause: no dial falls together with a cut
			}
		})
		if len(dials) < 60 || len(dials) > 65 || ready < 60 {
			t.Errorf("%d dials in a minute of cuts, %d times in force; want one a second, and four more", len(dials), ready)
		}
		time.Sleep(time.Minute)
		again("after many")
	})
}
