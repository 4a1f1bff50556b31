package link

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A kindCase says what a SET sent through an impaired link comes to.
type kindCase struct {
	impair    Impairment
	gone      bool   // the client closes right after sending
	answered  bool   // the reply comes while the impairment is open
	ends      bool   // the connection ends while the impairment is open
	torn      string // what comes of the reply before it does
	applied   bool   // while the impairment is open
	delivered bool   // at the heal, what was held: request or reply
	after     bool   // applied after the heal
	endsAfter bool   // the heal ends the connection
	slow      time.Duration
}

var kindCases = []kindCase{
	{impair: Impairment{Kind: BlackHole}, endsAfter: true},
	{impair: Impairment{Kind: RequestLost}, endsAfter: true},
	{impair: Impairment{Kind: ResponseLost}, applied: true, after: true, endsAfter: true},
	{impair: Impairment{Kind: Stall}, delivered: true, after: true},
	{impair: Impairment{Kind: Zombie}, delivered: true, after: true},
	{impair: Impairment{Kind: Zombie}, gone: true, after: true},
	{impair: Impairment{Kind: Stall}, gone: true, after: true},
	{impair: Impairment{Kind: StuckConnection}, delivered: true, after: true},
	{impair: Impairment{Kind: StuckConnection}, gone: true, after: true},
	{impair: Impairment{Kind: SlowReply}, applied: true, delivered: true, after: true},
	{impair: Impairment{Kind: FastLostReply}, applied: true, ends: true, after: true},
	{impair: Impairment{Kind: Delay, Delay: 20 * time.Millisecond}, applied: true, answered: true, after: true, slow: 40 * time.Millisecond},
	{impair: Impairment{Kind: Delay, Toward: Up, Delay: 20 * time.Millisecond}, applied: true, answered: true, after: true, slow: 20 * time.Millisecond},
	{impair: Impairment{Kind: Delay, Delay: 20*time.Millisecond + 300*time.Microsecond}, applied: true, answered: true, after: true, slow: 40 * time.Millisecond},
	{impair: Impairment{Kind: Delay, Delay: time.Hour}, delivered: true, after: true},
	{impair: Impairment{Kind: Delay, Delay: time.Hour, Jitter: time.Minute}, delivered: true, after: true},
	{impair: Impairment{Kind: Bandwidth, Rate: 1001}, applied: true, answered: true, after: true, slow: 20 * time.Millisecond},
	{impair: Impairment{Kind: Slicer, Bytes: 2, Delay: 10 * time.Millisecond}, applied: true, answered: true, after: true, slow: 10 * time.Millisecond},
	{impair: Impairment{Kind: LimitData, Bytes: 2}, applied: true, torn: "+O", after: true},
	{impair: Impairment{Kind: Bandwidth, Rate: 1000}, applied: true, answered: true, after: true, slow: 20 * time.Millisecond},
}

func TestKinds(t *testing.T) {
	for name := range fabrics(t) {
		for _, c := range kindCases {
			if c.impair.Kind == StuckConnection && name == "remote" {
				continue // refused there: TestStuckConnectionIsRefused
			}
			if c.impair.Delay == time.Hour && name == "remote" {
				continue // a toxiproxy of somebody else's does not say what it delays, so that nobody can wait for that
			}
			label := name + " " + string(c.impair.Kind) + " " + string(c.impair.Toward)
			if c.gone {
				label += " gone"
			}
			t.Run(label, func(t *testing.T) {
				r := newRig(t, fabrics(t)[name])
				if err := CheckStock(c.impair); err != nil && name == "remote" {
					if _, got := r.link.Impair(testContext(t), c.impair); got == nil || !strings.Contains(got.Error(), err.Error()) {
						t.Errorf("%v, want %v", got, err)
					}
					return
				}
				c.run(t, r)
			})
		}
	}
}

func (c kindCase) run(t *testing.T, r *rig) {
	conn := r.dial()
	a := r.impair(c.impair)
	began := time.Now()
	conn.send(t, "SET", "k", "v")
	if c.gone {
		_ = conn.Close()
	}
	c.whileOpen(t, r, conn, a)
	if took := time.Since(began); took < c.slow {
		t.Errorf("took %s, want at least %s", took, c.slow)
	}
	impact := r.heal(a)
	if !impact.Any() || impact.Requests != 1 {
		t.Errorf("impact %+v", impact)
	}
	if again := r.heal(a); again != impact {
		t.Errorf("second heal says %+v, the first said %+v", again, impact)
	}
	c.afterHeal(t, r, conn)
	probe := r.dial()
	probe.send(t, "SET", "probe", "v")
	probe.want(t, "+OK")
}

func (c kindCase) whileOpen(t *testing.T, r *rig, conn *client, a Applied) {
	if !c.answered && !c.ends && c.torn == "" {
		r.affected(a)
	}
	if c.applied {
		r.awaitApplied("k")
	}
	switch {
	case c.answered:
		conn.want(t, "+OK")
	case c.torn != "":
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		if got, err := io.ReadAll(conn.in); err != nil || string(got) != c.torn {
			t.Errorf("got %q, %v; want %q and the end", got, err, c.torn)
		}
	case c.ends:
		conn.wantEnd(t)
	case !c.gone:
		conn.wantSilence(t)
	default: // what a zombie would need to slip through
		r.redisIdle()
	}
	if r.applied("k") != c.applied {
		t.Errorf("while impaired: applied %t, want %t", r.applied("k"), c.applied)
	}
}

// redisIdle lets pass what could have passed.
func (r *rig) redisIdle() {
	for range 20 {
		time.Sleep(time.Millisecond)
	}
}

func (c kindCase) afterHeal(t *testing.T, r *rig, conn *client) {
	if c.delivered {
		conn.want(t, "+OK")
	}
	if c.endsAfter {
		conn.wantEnd(t)
	}
	if c.after {
		r.awaitApplied("k")
	}
	if r.applied("k") != c.after {
		t.Errorf("after the heal: applied %t, want %t", r.applied("k"), c.after)
	}
}

func TestReset(t *testing.T) {
	for name, f := range fabrics(t) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, f)
			reading, writing := r.dial(), r.dial()
			failed := make(chan error)
			go func() {
				_, err := reading.Read(make([]byte, 1))
				failed <- err
			}()
			a := r.impair(Impairment{Kind: Reset})
			if err := <-failed; !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("read: %v", err)
			}
			if _, err := writing.Write([]byte("x")); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("write: %v", err)
			}
			r.dial()
			if b := r.heal(a); b.Conns != 2 {
				t.Errorf("impact %+v", b)
			}
		})
	}
}

func TestCut(t *testing.T) {
	for name, f := range fabrics(t) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, f)
			conn := r.dial()
			first, second := r.impair(Impairment{Kind: Cut}), r.impair(Impairment{Kind: Cut})
			conn.wantEnd(t)
			refused := func() {
				t.Helper()
				if _, err := r.link.Dial(testContext(t)); !errors.Is(err, syscall.ECONNREFUSED) {
					t.Errorf("dial through a cut link: %v", err)
				}
			}
			refused()
			if b := r.heal(first); b.Conns != 0 || b.Dials != 1 {
				t.Errorf("impact %+v", b)
			}
			refused()
			if b := r.heal(second); b.Conns != 0 || b.Dials != 1 {
				t.Errorf("impact of the second cut, alone since the heal of the first: %+v", b)
			}
			r.dial()
		})
	}
}

// TestStuckConnectionLetsLaterOnesPass sends on a connection that was open when
// the impairment came, and on one that was not.
func TestStuckConnectionLetsLaterOnesPass(t *testing.T) {
	r := newRig(t, NewEmbedded())
	before := r.dial()
	a := r.impair(Impairment{Kind: StuckConnection})
	before.send(t, "SET", "k", "late")
	after := r.dial()
	after.send(t, "SET", "k", "early")
	after.want(t, "+OK")
	r.affected(a)
	if impact := r.heal(a); impact.Requests != 1 {
		t.Errorf("impact %+v, want one request", impact)
	}
	before.want(t, "+OK")
	if got, _ := r.redis.Get("k"); got != "late" {
		t.Errorf("k is %q, want what was held", got)
	}
}

// TestStuckConnectionOfAClientThatDialsForEachCommand sends on the first connection that is made when none was
// open, and on the next one.
func TestStuckConnectionOfAClientThatDialsForEachCommand(t *testing.T) {
	r := newRig(t, NewEmbedded())
	a := r.impair(Impairment{Kind: StuckConnection})
	first := r.dialSilently()
	first.send(t, "SET", "k", "late")
	r.affected(a)
	next := r.dial()
	next.send(t, "SET", "k", "early")
	next.want(t, "+OK")
	if impact := r.heal(a); impact.Requests != 1 {
		t.Errorf("impact %+v, want one request", impact)
	}
	first.want(t, "+OK")
	if got, _ := r.redis.Get("k"); got != "late" {
		t.Errorf("k is %q, want what was held", got)
	}
}

// TestStuckConnectionIsRefused asks a fabric that cannot tell connections apart.
func TestStuckConnectionIsRefused(t *testing.T) {
	r := newRig(t, fabrics(t)["remote"])
	if _, err := r.link.Impair(t.Context(), Impairment{Kind: StuckConnection}); err == nil {
		t.Error("it was not refused")
	}
}
