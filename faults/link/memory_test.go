package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// newMemoryRig returns a rig without sockets; the caller closes it within its
// bubble.
func newMemoryRig(t *testing.T) (r *rig, closeRig func()) {
	redis := miniredis.NewMiniRedis()
	f := NewMemory(func(context.Context, string) (net.Conn, error) { return redis.Dial() })
	l, err := f.Open(t.Context(), "c1", "n1", "n1")
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, redis: redis, link: l.(*proxyLink)}, func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		redis.Close()
	}
}

func TestKindsInVirtualTime(t *testing.T) {
	for _, c := range kindCases {
		t.Run(fmt.Sprint(c.impair.Kind, " ", c.impair.Toward, " ", c.gone), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, closeRig := newMemoryRig(t)
				defer closeRig()
				c.run(t, r)
			})
		})
	}
}

func TestVirtualDelayIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, closeRig := newMemoryRig(t)
		defer closeRig()
		conn := r.dial()
		a := r.impair(Impairment{Kind: Delay, Delay: time.Hour})
		_ = conn.SetDeadline(time.Time{})
		began := time.Now()
		conn.send(t, "PING")
		if _, err := conn.in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 2*time.Hour {
			t.Errorf("round trip took %s, want 2h", took)
		}
		r.heal(a)
	})
}

func TestVirtualCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, closeRig := newMemoryRig(t)
		defer closeRig()
		conn := r.dial()
		a := r.impair(Impairment{Kind: Cut})
		conn.wantEnd(t)
		if _, err := r.link.Dial(t.Context()); err == nil {
			t.Error("dialled through a cut link")
		}
		r.heal(a)
		r.dial()
	})
}

func TestVirtualStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, closeRig := newMemoryRig(t)
		defer closeRig()
		r.impair(Impairment{Kind: Delay, Delay: 50 * time.Microsecond}) // without it no time would pass
		stop := make(chan struct{})
		hammered := make(chan struct{})
		go func() {
			defer close(hammered)
			r.hammer(stop)
		}()
		r.torment(rand.New(rand.NewPCG(5, 6)))
		close(stop)
		<-hammered
		conn := r.dial()
		conn.send(t, "SET", "k", "v")
		conn.want(t, "+OK")
	})
}

func TestPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newPipe()
		if n, err := a.Write([]byte("abc")); n != 3 || err != nil {
			t.Errorf("write: %d, %v", n, err)
		}
		buf := make([]byte, 2)
		for _, want := range []string{"ab", "c"} {
			if n, err := b.Read(buf); string(buf[:n]) != want || err != nil {
				t.Errorf("read %q, %v", buf[:n], err)
			}
		}
		_ = b.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := b.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read past the deadline: %v", err)
		}
		_ = b.SetReadDeadline(time.Time{})
		reading := start(func() (int, error) { return b.Read(buf) })
		reading.wantBlocked(t, "read")
		_ = a.Close()
		reading.want(t, "read", 0, io.EOF)
		if _, err := b.Write(buf); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("write to a closed end: %v", err)
		}
		if _, err := a.Read(buf); !errors.Is(err, net.ErrClosed) {
			t.Errorf("read after Close: %v", err)
		}
		_ = b.Close()
	})
}
