package link

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestBytesKeepTheirOrder sends large pipelines while holds, delays and rates
// come and go, and compares every reply.
func TestBytesKeepTheirOrder(t *testing.T) {
	r := newRig(t, NewEmbedded())
	rng := rand.New(rand.NewPCG(3, 4))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		kinds := []Kind{Stall, Zombie, SlowReply, Delay, Bandwidth, Slicer}
		for {
			select {
			case <-stop:
				return
			default:
			}
			i := Impairment{Kind: kinds[rng.IntN(len(kinds))], Delay: time.Millisecond, Jitter: time.Duration(rng.IntN(2)) * time.Millisecond, Spread: HeavyTail, Rate: 5e7 + rng.Int64N(2), Bytes: 100}
			if i.Kind == Slicer {
				i.Delay = time.Microsecond
			}
			a, err := r.link.Impair(t.Context(), i)
			if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Duration(rng.IntN(1500)) * time.Microsecond)
			if _, err := a.Heal(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}()
	conn := r.dial()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	for round := range 10 {
		var requests, want strings.Builder
		for i := range 50 {
			value := strings.Repeat(fmt.Sprintf("%d.%d ", round, i), 1+i*7)
			requests.WriteString(command("ECHO", value))
			fmt.Fprintf(&want, "$%d\r\n%s\r\n", len(value), value)
		}
		go func() { _, _ = io.WriteString(conn, requests.String()) }()
		got := make([]byte, want.Len())
		if _, err := io.ReadFull(conn.in, got); err != nil || string(got) != want.String() {
			t.Fatalf("round %d: %v; replies differ: %t", round, err, string(got) != want.String())
		}
	}
	close(stop)
	<-stopped
}
