package link

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/faults/link/internal/socket"
)

// wantTimeout checks that a dial was neither answered nor refused.
func wantTimeout(t *testing.T, conn net.Conn, err error) {
	t.Helper()
	if err == nil {
		_ = conn.Close()
		t.Fatal("a dial into a partition was accepted")
	}
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() || errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a dial into a partition: %v; want a timeout", err)
	}
}

// A black hole answers no dial, and connections that were open stay so.
func TestPartitionAnswersNoDial(t *testing.T) {
	for name, f := range fabrics(t) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, f)
			idle := r.dial()
			first, second := r.impair(Impairment{Kind: BlackHole}), (*applied)(nil)
			if name == "embedded" { // the other bears one at a time
				second = r.impair(Impairment{Kind: BlackHole})
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			conn, err := r.link.Dial(ctx)
			wantTimeout(t, conn, err)
			idle.wantSilence(t)
			waited := make(chan error)
			go func() {
				conn, err := r.link.Dial(testContext(t))
				if err == nil {
					err = conn.Close()
				}
				waited <- err
			}()
			await(t, "the second dial", func() bool { return first.Impact().Dials == 2 })
			if b := r.heal(first); b.Dials != 2 || b.Conns != 0 {
				t.Errorf("impact %+v", b)
			}
			if second != nil {
				select {
				case err := <-waited:
					t.Errorf("a dial ended while the link was parted: %v", err)
				case <-time.After(30 * time.Millisecond):
				}
				r.heal(second)
			}
			if err := <-waited; err != nil {
				t.Errorf("a dial that outlasted the partition: %v", err)
			}
			if name == "embedded" { // the other closes every connection at the heal
				idle.send(t, "PING")
				idle.want(t, "+PONG")
			}
			r.dial()
		})
	}
}

func TestPartitionInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewVirtual(1, Pace{}, nil) // no dial gets to the server
		defer func() { _ = f.Close() }()
		l, err := f.Open(t.Context(), "c", "n", "n")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Impair(t.Context(), Impairment{Kind: BlackHole}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		conn, err := l.Dial(ctx)
		wantTimeout(t, conn, err)
		if took := time.Since(began); took != time.Minute {
			t.Errorf("the dial gave up after %v", took)
		}
	})
}

// dialFrom dials addr from a process of its own and returns what that came to.
func dialFrom(t *testing.T, addr string, within time.Duration) string {
	t.Helper()
	child := exec.CommandContext(testContext(t), os.Args[0], "-test.run=^TestDialAsChild$", "-test.v")
	child.Env = append(os.Environ(), "LINK_TEST_DIAL="+addr, "LINK_TEST_WITHIN="+within.String())
	said, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	_, outcome, _ := strings.Cut(string(said), "dial: ")
	outcome, _, _ = strings.Cut(outcome, "\n")
	return outcome
}

// TestDialAsChild is what dialFrom runs.
func TestDialAsChild(t *testing.T) {
	addr := os.Getenv("LINK_TEST_DIAL")
	if addr == "" {
		t.Skip("it is run by TestPartitionAnswersNoChild, in a process of its own")
	}
	within, err := time.ParseDuration(os.Getenv("LINK_TEST_WITHIN"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.DialTimeout("tcp", addr, within)
	var timeout net.Error
	switch {
	case err == nil:
		_ = conn.Close()
		t.Log("dial: accepted")
	case errors.Is(err, syscall.ECONNREFUSED):
		t.Log("dial: refused")
	case errors.As(err, &timeout) && timeout.Timeout():
		t.Log("dial: timeout")
	default:
		t.Log("dial:", err)
	}
}

// What another process sees of the proxy that it dials, by a real socket: the
// partition swallows its SYN, the cut refuses it, and when both are over it is
// accepted.
func TestPartitionAnswersNoChild(t *testing.T) {
	if !socket.DropsDials {
		t.Skip("only on Linux can a listener leave dials of other processes unanswered")
	}
	r := newRig(t, NewEmbedded())
	open := r.dial()
	check := func(when, want string) {
		t.Helper()
		within := 10 * time.Second
		if want == "timeout" {
			within = 100 * time.Millisecond
		}
		if got := dialFrom(t, r.link.Addr(), within); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	check("before", "accepted")
	hole := r.impair(Impairment{Kind: BlackHole})
	check("parted", "timeout")
	cut := r.impair(Impairment{Kind: Cut})
	open.wantEnd(t)
	check("cut as well", "refused")
	r.heal(cut)
	check("parted again, by a new listener", "timeout")
	r.heal(hole)
	check("healed", "accepted")
	both := []*applied{r.impair(Impairment{Kind: Cut}), r.impair(Impairment{Kind: BlackHole})}
	check("parted while cut", "refused")
	r.heal(both[0])
	check("parted, and cut no more", "timeout")
	r.heal(both[1])
	check("healed again", "accepted")
}

// A connection that a child has opened before the partition stays open, and one
// that it dials meanwhile comes about by the kernel's next SYN.
func TestPartitionSparesOpenConnections(t *testing.T) {
	if !socket.DropsDials {
		t.Skip("only on Linux can a listener leave dials of other processes unanswered")
	}
	r := newRig(t, NewEmbedded())
	conn, err := net.Dial("tcp", r.link.Addr()) // as another process does, past the link's own end
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	hole := r.impair(Impairment{Kind: BlackHole})
	dialled := make(chan error)
	began := make(chan struct{})
	go func() {
		close(began)
		late, err := net.DialTimeout("tcp", r.link.Addr(), 20*time.Second)
		if err == nil {
			err = late.Close()
		}
		dialled <- err
	}()
	<-began
	select {
	case err := <-dialled:
		t.Errorf("a dial into a partition returned: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	r.heal(hole)
	if err := <-dialled; err != nil {
		t.Errorf("the dial that the partition held up: %v", err)
	}
	if _, err := conn.Write([]byte(command("PING"))); err != nil {
		t.Fatal(err)
	}
	reply := make([]byte, 7)
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := conn.Read(reply); err != nil || string(reply) != "+PONG\r\n" {
		t.Errorf("the open connection: %q, %v", reply, err)
	}
}
