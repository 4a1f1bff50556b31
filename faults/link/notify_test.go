package link

import "testing"

// What impairs notifications leaves other connections alone, on every fabric.
func TestNotices(t *testing.T) {
	for name := range fabrics(t) {
		t.Run(name+" cut", func(t *testing.T) {
			r := newRig(t, fabrics(t)[name])
			plain, sub := r.dial(), r.subscribe()
			a := r.impair(Impairment{Kind: NotifyCut})
			sub.wantEnd(t)
			if _, err := r.dial().Write([]byte(command("SUBSCRIBE", "news"))); err == nil {
				t.Error("a second subscription was let through")
			}
			plain.send(t, "SET", "k", "v")
			plain.want(t, "+OK")
			if impact := r.heal(a); impact.Conns != 2 {
				t.Errorf("impact %+v, want 2 connections", impact)
			}
			r.subscribe()
		})
		t.Run(name+" lost", func(t *testing.T) {
			r := newRig(t, fabrics(t)[name])
			plain, deaf, idle := r.dial(), r.subscribe(), r.subscribe()
			a := r.impair(Impairment{Kind: NotifyLost})
			deaf.send(t, "PING")
			deaf.wantSilence(t)
			plain.send(t, "SET", "k", "v")
			plain.want(t, "+OK")
			if impact := r.heal(a); impact.Bytes != int64(len(command("PING"))) {
				t.Errorf("impact %+v", impact)
			}
			deaf.wantEnd(t) // it has a hole
			r.redis.Publish("news", "heard")
			idle.want(t, "*3")
		})
	}
}

// subscribe returns a connection in subscription, which has read its
// confirmation.
func (r *rig) subscribe() *client {
	c := r.dial()
	c.send(r.t, "SUBSCRIBE", "news")
	for _, line := range []string{"*3", "$9", "subscribe", "$4", "news", ":1"} {
		c.want(r.t, line)
	}
	return c
}
