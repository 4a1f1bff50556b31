package gate

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// gated returns both ends of a connection, the near one behind g.
func gated(t *testing.T, g *Gate) (near, far net.Conn) {
	t.Helper()
	near, err := g.Dial(t.Context(), func(context.Context) (net.Conn, error) {
		a, b := net.Pipe()
		far = b
		return a, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return near, far
}

// A call runs one operation in the background.
type call struct {
	done bool
	n    int
	err  error
}

func start(op func() (int, error)) *call {
	c := new(call)
	go func() {
		c.n, c.err = op()
		c.done = true
	}()
	return c
}

func (c *call) wantBlocked(t *testing.T, what string) {
	t.Helper()
	synctest.Wait()
	if c.done {
		t.Fatalf("%s returned (%d, %v) at a shut gate", what, c.n, c.err)
	}
}

func (c *call) want(t *testing.T, what string, n int, err error) {
	t.Helper()
	synctest.Wait()
	if !c.done || c.n != n || !errors.Is(c.err, err) {
		t.Fatalf("%s: done %t (%d, %v), want (%d, %v)", what, c.done, c.n, c.err, n, err)
	}
}

func TestShutGateStopsEverythingUntilResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New()
		defer g.Sever()
		near, far := gated(t, g)
		var got []byte
		go func() { got, _ = io.ReadAll(far) }()
		reading := start(func() (int, error) { return near.Read(make([]byte, 8)) })
		synctest.Wait() // the read is under way before the pause
		g.Pause()
		g.Pause()
		if _, err := far.Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		writing := start(func() (int, error) { return near.Write([]byte("xy")) })
		dialling := start(func() (int, error) {
			c, err := g.Dial(t.Context(), func(context.Context) (net.Conn, error) { return nil, io.ErrUnexpectedEOF })
			return 0, errors.Join(err, closeIf(c))
		})
		waiting := start(func() (int, error) { return 0, g.Wait(t.Context()) })
		all := func() {
			t.Helper()
			reading.wantBlocked(t, "read")
			writing.wantBlocked(t, "write")
			dialling.wantBlocked(t, "dial")
			waiting.wantBlocked(t, "wait")
		}
		all()
		g.Resume()
		all()
		if n := g.Resume(); n != 4 {
			t.Errorf("%d operations stopped, want 4", n)
		}
		reading.want(t, "read", 3, nil)
		writing.want(t, "write", 2, nil)
		dialling.want(t, "dial", 0, io.ErrUnexpectedEOF)
		waiting.want(t, "wait", 0, nil)
		_ = near.Close()
		synctest.Wait()
		if string(got) != "xy" {
			t.Errorf("the far end got %q", got)
		}
	})
}

func closeIf(c net.Conn) error {
	if c == nil {
		return nil
	}
	return c.Close()
}

func TestDeadlineIsNoticedOnlyAfterResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New()
		defer g.Sever()
		near, _ := gated(t, g)
		g.Pause()
		_ = near.SetReadDeadline(time.Now().Add(time.Second))
		reading := start(func() (int, error) { return near.Read(make([]byte, 8)) })
		time.Sleep(time.Minute)
		reading.wantBlocked(t, "read")
		g.Resume()
		reading.want(t, "read", 0, os.ErrDeadlineExceeded)
	})
}

func TestCloseAtAShutGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New()
		defer g.Sever()
		near, far := gated(t, g)
		farReading := start(func() (int, error) { return far.Read(make([]byte, 8)) })
		reading := start(func() (int, error) { return near.Read(make([]byte, 8)) })
		synctest.Wait()
		g.Pause()
		if err := near.Close(); err != nil {
			t.Fatal(err)
		}
		if err := near.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("second close: %v", err)
		}
		reading.want(t, "read", 0, net.ErrClosed)
		farReading.wantBlocked(t, "the far end's read")
		g.Resume()
		farReading.want(t, "the far end's read", 0, io.EOF)
	})
}

func TestSeverEndsEverything(t *testing.T) {
	for _, paused := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := New()
			near, far := gated(t, g)
			late, _ := gated(t, g)
			farReading := start(func() (int, error) { return far.Read(make([]byte, 8)) })
			reading := start(func() (int, error) { return near.Read(make([]byte, 8)) })
			synctest.Wait()
			want := 2
			if paused {
				g.Pause()
				_ = late.Close()
				want = 1
			}
			if n := g.Sever(); n != want {
				t.Errorf("%d connections closed, want %d", n, want)
			}
			reading.want(t, "read", 0, ErrSevered)
			farReading.want(t, "the far end's read", 0, io.EOF)
			g.Resume()
			if _, err := g.Dial(t.Context(), nil); !errors.Is(err, ErrSevered) {
				t.Errorf("dial: %v", err)
			}
			if err := g.Wait(t.Context()); !errors.Is(err, ErrSevered) {
				t.Errorf("wait: %v", err)
			}
			if n := g.Sever(); n != 0 {
				t.Errorf("second sever closed %d", n)
			}
			_ = late.Close()
		})
	}
}

func TestPausePointEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New()
		defer g.Sever()
		g.Pause()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("wait: %v", err)
		}
		if !g.Paused() {
			t.Error("not paused")
		}
	})
}
