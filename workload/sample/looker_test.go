package sample_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"locktorture/workload/history"
	"locktorture/workload/sample"
)

// A glass is a node that is looked into without a connection.
type glass struct{ broken time.Time } // from when to when it is: a second

func (*glass) Name() string                           { return "n1" }
func (*glass) Dial(context.Context) (net.Conn, error) { return nil, errors.New("nobody dials") }
func (g *glass) isBroken() bool                       { s := time.Since(g.broken); return s >= 0 && s < time.Second }
func (g *glass) Look(string) (time.Duration, string, error) {
	if g.isBroken() {
		return 0, "", errors.New("broken")
	}
	return 500 * time.Millisecond, "x", nil
}

// TestLooker: a node that can be looked into is not dialled, at instants that are whole
// multiples of the grain apart; that it does not answer is told once.
func TestLooker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const grain = 4096 * time.Nanosecond
		began := time.Now()
		l := &log{more: make(chan struct{}, 1)}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		g := &glass{broken: began.Add(time.Second)}
		c := sample.Config{Nodes: []sample.Node{g}, Keys: []sample.Key{{Resource: "k", Name: "text"}}, TTL: time.Second, Grain: grain}
		if err := sample.Watch(ctx, c, history.NewRecorder(l)); err != nil {
			t.Fatal(err)
		}
		seen, failed := 0, 0
		for _, e := range l.events {
			if e.Time%grain != 0 {
				t.Errorf("a look at %v", e.Time)
			}
			if e.Kind == history.Fail {
				failed++
			} else if seen++; e.Holder != "x" || e.PTTL != 500 {
				t.Errorf("%+v", e)
			}
		}
		if seen < 10 || failed != 1 {
			t.Errorf("seen %d times, silent %d times", seen, failed)
		}
	})
}
