package link

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

func TestImpairmentsHealApart(t *testing.T) {
	stall, delay, zombie := Impairment{Kind: Stall}, Impairment{Kind: Delay, Delay: time.Millisecond}, Impairment{Kind: Zombie}
	for _, c := range []struct{ first, second Impairment }{
		{stall, stall}, {stall, delay}, {delay, stall}, {zombie, stall}, {stall, zombie},
	} {
		for _, firstHealsFirst := range []bool{true, false} {
			t.Run(fmt.Sprint(c.first.Kind, " ", c.second.Kind, " ", firstHealsFirst), func(t *testing.T) {
				r := newRig(t, NewEmbedded())
				conn := r.dial()
				a := r.impair(c.first)
				conn.send(t, "SET", "k1", "v")
				b := r.impair(c.second)
				conn.send(t, "SET", "k2", "v")
				conn.send(t, "SET", "k3", "v")
				if firstHealsFirst {
					a, b = b, a // b heals first
				}
				stillHeld := a.toxics[0].effect.treatment == hold
				r.heal(b)
				if stillHeld {
					r.redisIdle()
					if r.applied("k2") || r.applied("k3") {
						t.Error("a held request slipped through when its neighbour healed")
					}
				}
				r.heal(a)
				for range 3 {
					conn.want(t, "+OK")
				}
			})
		}
	}
}

func TestDroppedUnderAHoldIsNeverDelivered(t *testing.T) {
	r := newRig(t, NewEmbedded())
	conn := r.dial()
	hole := r.impair(Impairment{Kind: BlackHole})
	stall := r.impair(Impairment{Kind: Stall})
	conn.send(t, "SET", "k", "v")
	await(t, "the drop", func() bool { return hole.count().Bytes > 0 })
	r.heal(stall)
	r.heal(hole)
	conn.wantEnd(t)
	if r.applied("k") {
		t.Error("applied")
	}
}

func TestHealSparesConnectionsThatLostNothing(t *testing.T) {
	r := newRig(t, NewEmbedded())
	idle, affected := r.dial(), r.dial()
	a := r.impair(Impairment{Kind: RequestLost})
	affected.send(t, "SET", "k", "v")
	await(t, "the drop", func() bool { return a.count().Bytes > 0 })
	b := r.heal(a)
	affected.wantEnd(t)
	idle.send(t, "SET", "k", "v")
	idle.want(t, "+OK")
	if want := (Impact{Bytes: int64(len(command("SET", "k", "v"))), Conns: 1, Requests: 1}); b != want {
		t.Errorf("impact %+v, want %+v", b, want)
	}
}

func TestUnaffectedLinkHasNoImpact(t *testing.T) {
	r := newRig(t, NewEmbedded())
	r.dial()
	for _, k := range []Kind{BlackHole, Stall, Delay, FastLostReply} {
		if b := r.heal(r.impair(Impairment{Kind: k})); b.Any() {
			t.Errorf("%s: %+v", k, b)
		}
	}
}

func TestOtherLinksAreSpared(t *testing.T) {
	f := NewEmbedded()
	r := newRig(t, f)
	other, err := f.Open(testContext(t), "c2", "n1", r.redis.Addr())
	if err != nil {
		t.Fatal(err)
	}
	r.impair(Impairment{Kind: BlackHole})
	r.impair(Impairment{Kind: Cut})
	spared := (&rig{t: t, redis: r.redis, link: other.(*proxyLink)}).dial()
	spared.send(t, "SET", "k", "v")
	spared.want(t, "+OK")
	if err := f.Reset(testContext(t)); err != nil {
		t.Fatal(err)
	}
	r.dial()
}

func TestBadImpairments(t *testing.T) {
	r := newRig(t, NewEmbedded())
	for _, i := range []Impairment{{}, {Kind: "flood"}, {Kind: Bandwidth}, {Kind: Delay, Delay: -1}} {
		if _, err := r.link.Impair(testContext(t), i); err == nil {
			t.Errorf("%+v was accepted", i)
		}
	}
	if err := r.link.close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := r.link.Impair(testContext(t), Impairment{Kind: Stall}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("impair a closed link: %v", err)
	}
	if _, err := r.link.Dial(testContext(t)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("dial a closed link: %v", err)
	}
}

// TestStorm puts impairments on and takes them off in any order while clients
// work, and then everything must work as if nothing had been.
func TestStorm(t *testing.T) {
	const seed = 7
	r := newRig(t, NewEmbedded())
	stop := make(chan struct{})
	var clients, nemeses sync.WaitGroup
	for range 8 {
		clients.Go(func() { r.hammer(stop) })
	}
	for i := range uint64(4) {
		nemeses.Go(func() { r.torment(rand.New(rand.NewPCG(seed, i))) })
	}
	nemeses.Wait()
	close(stop)
	clients.Wait()
	conn := r.dial()
	conn.send(t, "SET", "k", "v")
	conn.want(t, "+OK")
	if n := len(r.link.inForce); n > 0 {
		t.Errorf("%d impairments are left", n)
	}
}

// hammer sends pipelined commands until stop, dialling again after every
// failure.
func (r *rig) hammer(stop <-chan struct{}) {
	stopped := func() bool {
		select {
		case <-stop:
			return true
		default:
			return false
		}
	}
	for !stopped() {
		conn, err := r.link.Dial(r.t.Context())
		if err != nil {
			time.Sleep(100 * time.Microsecond)
			continue
		}
		for err == nil && !stopped() {
			_ = conn.SetDeadline(time.Now().Add(5 * time.Millisecond))
			if _, err = conn.Write([]byte(command("SET", "a", "b") + command("GET", "a") + command("PING"))); err == nil {
				_, err = conn.Read(make([]byte, 64))
			}
		}
		_ = conn.Close()
	}
}

func (r *rig) torment(rng *rand.Rand) {
	kinds := []Kind{Cut, BlackHole, RequestLost, ResponseLost, Stall, Zombie, SlowReply, FastLostReply, Reset, Delay, Bandwidth, Slicer, LimitData, SlowClose}
	var open []Applied
	for range 150 {
		if len(open) < 4 {
			i := Impairment{Kind: kinds[rng.IntN(len(kinds))], Delay: time.Millisecond, Jitter: time.Duration(rng.IntN(2)) * time.Millisecond, Rate: 1e6 + rng.Int64N(2), Bytes: 2, Seed: rng.Uint64()}
			a, err := r.link.Impair(r.t.Context(), i)
			if err != nil {
				r.t.Error(err)
				return
			}
			open = append(open, a)
		}
		time.Sleep(time.Duration(rng.IntN(2000)) * time.Microsecond)
		for len(open) == 4 || len(open) > 0 && rng.IntN(2) == 0 {
			j := rng.IntN(len(open))
			if _, err := open[j].Heal(r.t.Context()); err != nil {
				r.t.Error(err)
			}
			open = append(open[:j], open[j+1:]...)
		}
	}
	for _, a := range open {
		if _, err := a.Heal(r.t.Context()); err != nil {
			r.t.Error(err)
		}
	}
}
