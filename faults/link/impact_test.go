package link

import (
	"testing"
	"time"
)

// every lists an impairment of each kind.
func every() []Impairment {
	return []Impairment{
		{Kind: Cut}, {Kind: Reset}, {Kind: BlackHole}, {Kind: RequestLost}, {Kind: ResponseLost}, {Kind: Stall}, {Kind: Zombie},
		{Kind: SlowReply}, {Kind: FastLostReply}, {Kind: Delay, Delay: time.Millisecond}, {Kind: Bandwidth, Rate: 1000},
		{Kind: NotifyCut}, {Kind: NotifyLost},
	}
}

// An impairment under which no client does anything has no impact, even
// where it closes connections that are at rest.
func TestNoImpactWithoutTraffic(t *testing.T) {
	for name := range fabrics(t) {
		for _, i := range every() {
			t.Run(name+" "+string(i.Kind), func(t *testing.T) {
				r := newRig(t, fabrics(t)[name])
				r.dial()
				if b := r.heal(r.impair(i)); b.Any() {
					t.Errorf("impact %+v", b)
				}
			})
		}
	}
}

// What a node's death does to connections is no impact of an impairment that was
// open at that moment.
func TestNoImpactByAnotherCause(t *testing.T) {
	for name := range fabrics(t) {
		for _, i := range []Impairment{{Kind: Delay, Delay: time.Millisecond}, {Kind: Bandwidth, Rate: 1000}, {Kind: Stall}, {Kind: FastLostReply}, {Kind: NotifyCut}} {
			t.Run(name+" "+string(i.Kind), func(t *testing.T) {
				r := newRig(t, fabrics(t)[name])
				conn := r.dial()
				a := r.impair(i)
				r.redis.Close()
				conn.wantEnd(t)
				if b := r.heal(a); b.Any() {
					t.Errorf("impact %+v", b)
				}
			})
		}
	}
}

// Two cuts of one link: what is refused is refused once.
func TestCommandUnderCut(t *testing.T) {
	for name := range fabrics(t) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, fabrics(t)[name])
			conn := r.dial()
			stalled := r.impair(Impairment{Kind: Stall})
			conn.send(t, "SET", "k", "v")
			await(t, "the SET in the stall", func() bool { return stalled.Impact().Bytes > 0 })
			cut := r.impair(Impairment{Kind: Cut})
			conn.wantEnd(t)
			again := r.impair(Impairment{Kind: Cut})
			if b := r.heal(cut); b.Conns != 1 || b.Bytes != 0 {
				t.Errorf("impact of the cut %+v", b)
			}
			if b := r.heal(again); b.Any() {
				t.Errorf("impact of a cut of what was cut %+v", b)
			}
			if b := r.heal(stalled); b.Conns != 0 || b.Bytes == 0 {
				t.Errorf("impact of the stall %+v", b)
			}
		})
	}
}
