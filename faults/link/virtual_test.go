package link_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/faults/link"
)

// An echo answers every request by itself, and notes when requests came.
type echo struct {
	mu   sync.Mutex
	came []time.Time
	got  []string
}

func (e *echo) Accept(reply func([]byte), _ func()) (link.Session, error) {
	return &echoed{e, reply}, nil
}

func (e *echo) requests() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.got)
}

func (e *echo) arrivals() []time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.came)
}

type echoed struct {
	*echo
	reply func([]byte)
}

func (s *echoed) Request(b []byte) {
	s.mu.Lock()
	s.came, s.got = append(s.came, time.Now()), append(s.got, string(b))
	s.mu.Unlock()
	s.reply(b)
}

func (s *echoed) Gone() {}

// virtually runs test over a link to an echo, in virtual time.
func virtually(t *testing.T, test func(t *testing.T, e *echo, l link.Link)) {
	synctest.Test(t, func(t *testing.T) {
		e := &echo{}
		f := link.NewVirtual(1, link.Pace{}, func(string) link.Server { return e })
		l, err := f.Open(t.Context(), "c00", "n1", "n1")
		if err != nil {
			t.Fatal(err)
		}
		test(t, e, l)
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What becomes of a request, and of its reply, under each impairment and after its
// heal.
func TestVirtualLinksImpairAsOthersDo(t *testing.T) {
	const soon, held = 100 * time.Millisecond, time.Second
	for _, x := range []struct {
		impair                   link.Impairment
		applied, known           bool // while it is in force
		appliedLater, knownLater bool // once it is healed
	}{
		{link.Impairment{Kind: link.Cut}, false, false, false, false},
		{link.Impairment{Kind: link.BlackHole}, false, false, false, false},
		{link.Impairment{Kind: link.RequestLost}, false, false, false, false},
		{link.Impairment{Kind: link.ResponseLost}, true, false, true, false},
		{link.Impairment{Kind: link.Stall}, false, false, true, true},
		{link.Impairment{Kind: link.Zombie}, false, false, true, true},
		{link.Impairment{Kind: link.StuckConnection}, false, false, true, true},
		{link.Impairment{Kind: link.SlowReply}, true, false, true, true},
		{link.Impairment{Kind: link.FastLostReply}, true, false, true, false},
		{link.Impairment{Kind: link.Reset}, false, false, false, false},
		{link.Impairment{Kind: link.Delay, Delay: 500 * time.Millisecond}, false, false, true, true},
		{link.Impairment{Kind: link.Delay, Delay: time.Hour}, false, false, true, true},
		{link.Impairment{Kind: link.Delay, Delay: time.Hour, Jitter: time.Minute, Spread: link.HeavyTail}, false, false, true, true},
		{link.Impairment{Kind: link.Bandwidth, Rate: 20}, false, false, true, true},
		{link.Impairment{Kind: link.Bandwidth, Rate: 1}, false, false, true, true},
		{link.Impairment{Kind: link.Slicer, Bytes: 2, Delay: time.Millisecond}, true, true, true, true},
		{link.Impairment{Kind: link.LimitData, Bytes: 3}, true, false, true, false},
	} {
		t.Run(fmt.Sprintf("%s %v", x.impair.Kind, x.impair.Delay), func(t *testing.T) {
			virtually(t, func(t *testing.T, e *echo, l link.Link) {
				c, err := l.Dial(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				a, err := l.Impair(t.Context(), x.impair)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = c.Write([]byte("request"))
				known := reads(c, soon)
				if applied := len(e.requests()) > 0; applied != x.applied || known != x.known {
					t.Errorf("in force: applied %v, known %v; want %v, %v", applied, known, x.applied, x.known)
				}
				time.Sleep(held)
				if _, err := a.Heal(t.Context()); err != nil {
					t.Fatal(err)
				}
				known = known || reads(c, soon)
				if applied := len(e.requests()) > 0; applied != x.appliedLater || known != x.knownLater {
					t.Errorf("healed: applied %v, known %v; want %v, %v", applied, known, x.appliedLater, x.knownLater)
				}
			})
		})
	}
}

// Of a client that dials for each command, the next connection is stuck, for all that is sent on it, and no
// other one.
func TestVirtualStuckConnectionOfTheNextDial(t *testing.T) {
	virtually(t, func(t *testing.T, e *echo, l link.Link) {
		a, err := l.Impair(t.Context(), link.Impairment{Kind: link.StuckConnection})
		if err != nil {
			t.Fatal(err)
		}
		dial := func() net.Conn {
			c, err := l.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		first := dial()
		_, _ = first.Write([]byte("request"))
		next := dial()
		_, _ = next.Write([]byte("request"))
		_, _ = first.Write([]byte("request"))
		if !reads(next, time.Second) || reads(first, time.Second) || len(e.requests()) != 1 {
			t.Errorf("%d requests arrived, want the next connection's", len(e.requests()))
		}
		if impact, err := a.Heal(t.Context()); err != nil || !impact.Any() {
			t.Errorf("impact %+v, error %v", impact, err)
		}
		answered := reads(first, time.Second)
		if got := strings.Join(e.requests(), ""); !answered || got != strings.Repeat("request", 3) {
			t.Errorf("healed: answered %t, %q arrived, want 3 requests", answered, got)
		}
	})
}

// reads reports whether a whole reply comes within a time.
func reads(c net.Conn, within time.Duration) bool {
	_ = c.SetReadDeadline(time.Now().Add(within))
	var got []byte
	for len(got) < len("request") {
		buf := make([]byte, 16)
		n, err := c.Read(buf)
		if got = append(got, buf[:n]...); err != nil {
			return false
		}
	}
	return true
}

// A heal lets what was delayed arrive at once, in its order, once each, and nothing that comes after
// it earlier.
func TestVirtualHealEndsDelays(t *testing.T) {
	virtually(t, func(t *testing.T, e *echo, l link.Link) {
		c, err := l.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var heals []link.Applied
		for _, d := range []time.Duration{time.Hour, 10 * time.Second} {
			a, err := l.Impair(t.Context(), link.Impairment{Kind: link.Delay, Delay: d, Toward: link.Up})
			if err != nil {
				t.Fatal(err)
			}
			heals = append(heals, a)
		}
		var want []string
		for _, text := range []string{"one", "two", "three"} {
			_, _ = c.Write([]byte(text))
			want = append(want, text)
			time.Sleep(time.Second)
		}
		heal := func(i int) {
			if _, err := heals[i].Heal(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		heal(0)
		time.Sleep(6500 * time.Millisecond) // the first was sent 9.5 s ago, and 10 are left
		if got := e.requests(); len(got) > 0 {
			t.Errorf("%q arrived before the delay that is left was over", got)
		}
		time.Sleep(time.Second)
		if got := e.requests(); !slices.Equal(got, want[:1]) {
			t.Errorf("%q arrived, want the first", got)
		}
		heal(1)
		_, _ = c.Write([]byte("four"))
		time.Sleep(100 * time.Millisecond)
		if got := e.requests(); !slices.Equal(got, append(want, "four")) {
			t.Errorf("after the heal %q arrived", got)
		}
		time.Sleep(2 * time.Hour)
		if got := e.requests(); len(got) != 4 {
			t.Errorf("%q arrived in the end", got)
		}
	})
}

// What a client has sent and held up arrives although the client has gone.
func TestVirtualZombiesArrive(t *testing.T) {
	virtually(t, func(t *testing.T, e *echo, l link.Link) {
		c, err := l.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a, err := l.Impair(t.Context(), link.Impairment{Kind: link.Zombie})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write([]byte("late"))
		_ = c.Close()
		time.Sleep(time.Second)
		if _, err := a.Heal(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := e.requests(); !slices.Equal(got, []string{"late"}) {
			t.Errorf("arrived: %q", got)
		}
	})
}

// A dial is refused by a cut, and not answered in a partition.
func TestVirtualDials(t *testing.T) {
	virtually(t, func(t *testing.T, _ *echo, l link.Link) {
		for kind, want := range map[link.Kind]error{link.Cut: nil, link.BlackHole: context.DeadlineExceeded} {
			a, err := l.Impair(t.Context(), link.Impairment{Kind: kind})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := l.Dial(ctx); err == nil || want != nil && !errors.Is(err, want) {
				t.Errorf("%s: %v", kind, err)
			}
			cancel()
			if _, err := a.Heal(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		c, err := l.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _ = c.SetReadDeadline(time.Now().Add(time.Second)); !isTimeout(c) {
			t.Error("a read that nobody answers does not end at its deadline")
		}
	})
}

func isTimeout(c net.Conn) bool {
	_, err := c.Read(make([]byte, 1))
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// A read times out at its deadline, also where its client closes the connection at that very
// instant, whatever comes first.
func TestVirtualReadsTimeOutAtTheirDeadline(t *testing.T) {
	for _, x := range []struct {
		closed time.Duration // behind the deadline
		late   bool          // the read begins when the connection is closed
		want   error
	}{
		{-1, false, net.ErrClosed}, {0, false, os.ErrDeadlineExceeded}, {1, false, os.ErrDeadlineExceeded},
		{-1, true, net.ErrClosed}, {0, true, os.ErrDeadlineExceeded}, {1, true, net.ErrClosed},
	} {
		virtually(t, func(t *testing.T, _ *echo, l link.Link) {
			c, err := l.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			deadline := time.Now().Add(time.Second)
			_ = c.SetReadDeadline(deadline)
			ends := make(chan error, 1)
			read := func() {
				_, err := c.Read(make([]byte, 1))
				ends <- err
			}
			if !x.late {
				go read()
			}
			time.Sleep(time.Until(deadline.Add(x.closed)))
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if x.late {
				read()
			}
			if err := <-ends; !errors.Is(err, x.want) {
				t.Errorf("closed %v behind the deadline, reading late: %t: %v, want %v", x.closed, x.late, err, x.want)
			}
		})
	}
}

// Of many clients no two messages arrive at one instant, and whoever sends the same
// again at the same instants sees the same instants.
func TestVirtualInstantsAreUniqueAndRepeat(t *testing.T) {
	play := func() (all []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var servers []*echo
			f := link.NewVirtual(7, link.Pace{}, func(string) link.Server {
				e := &echo{}
				servers = append(servers, e)
				return e
			})
			var conns []net.Conn
			for i := range 20 {
				l, err := f.Open(t.Context(), fmt.Sprintf("c%02d", i), "n1", "n1")
				if err != nil {
					t.Fatal(err)
				}
				c, err := l.Dial(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				conns = append(conns, c)
			}
			time.Sleep(time.Until(began.Add(time.Second)))
			var sending sync.WaitGroup
			for _, c := range conns { // all at once, in any order
				sending.Go(func() {
					for range 50 {
						_, _ = c.Write([]byte("request"))
						time.Sleep(time.Millisecond)
					}
				})
			}
			sending.Wait()
			time.Sleep(time.Second)
			for _, e := range servers {
				for _, at := range e.arrivals() {
					all = append(all, at.Sub(began))
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
		slices.Sort(all)
		return all
	}
	first := play()
	if len(first) != 1000 || len(slices.Compact(slices.Clone(first))) != len(first) {
		t.Errorf("%d messages, %d instants", len(first), len(slices.Compact(slices.Clone(first))))
	}
	if !slices.Equal(first, play()) {
		t.Error("another time they arrive at other instants")
	}
}

// Messages of the last rank come last, whoever that is at the time, and everything
// is as the seed has it.
func TestRanksDelayWhoComesLast(t *testing.T) {
	const longest, fall = 100 * time.Millisecond, time.Second
	trips := func(seed uint64) (all [2][3]time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			e := &echo{}
			f := link.NewVirtual(seed, link.Pace{Least: time.Millisecond, Ranks: &link.Ranks{Of: link.Clients, Longest: longest, Falls: []time.Duration{fall}}},
				func(string) link.Server { return e })
			var links [3]link.Link
			for i := range links {
				var err error
				if links[i], err = f.Open(t.Context(), fmt.Sprintf("c%02d", i), "n1", "n1"); err != nil {
					t.Fatal(err)
				}
			}
			for turn := range all {
				for i, l := range links {
					c, err := l.Dial(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					began := time.Now()
					_, _ = c.Write([]byte("request"))
					if !reads(c, time.Second) {
						t.Fatal("no reply")
					}
					all[turn][i] = time.Since(began).Round(time.Millisecond)
				}
				time.Sleep(2 * fall)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
		return all
	}
	fell := false
	for seed := range uint64(8) {
		all := trips(seed)
		for _, turn := range all {
			slices.Sort(turn[:])
			if want := [3]time.Duration{2 * time.Millisecond, 2*time.Millisecond + longest, 2*time.Millisecond + 2*longest}; turn != want {
				t.Errorf("seed %d: there and back in %v, want %v", seed, turn, want)
			}
		}
		fell = fell || all[0] != all[1]
		if again := trips(seed); again != all {
			t.Errorf("seed %d: %v, then %v", seed, all, again)
		}
	}
	if !fell {
		t.Error("nobody ever fell behind")
	}
}

// A heal that waits for a dial under way holds up nobody who asks what the impairment
// did, and with them virtual time.
func TestHealingDoesNotStopTheClock(t *testing.T) {
	defer time.AfterFunc(time.Minute, func() { panic("virtual time stands still") }).Stop()
	virtually(t, func(t *testing.T, _ *echo, l link.Link) {
		cut, err := l.Impair(t.Context(), link.Impairment{Kind: link.Cut})
		if err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		both.Go(func() { _, _ = l.Dial(t.Context()) })
		time.Sleep(time.Microsecond)
		both.Go(func() {
			if _, err := cut.Heal(t.Context()); err != nil {
				t.Error(err)
			}
		})
		both.Go(func() {
			time.Sleep(time.Microsecond)
			_ = cut.Impact()
			if _, err := cut.Heal(t.Context()); err != nil { // a second one waits for the first
				t.Error(err)
			}
		})
		both.Wait()
	})
}
