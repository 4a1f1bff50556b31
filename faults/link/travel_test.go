package link

import (
	"slices"
	"testing"
	"time"
)

// On a paced fabric a message takes as long as its pace says, each way, and nothing ends that: no
// heal, no reset, no other impairment that comes and goes.
func TestPacedFabric(t *testing.T) {
	const least = 30 * time.Millisecond
	f := NewPaced(1, Pace{Least: least, Spread: time.Millisecond})
	r := newRig(t, f)
	c := r.dial()
	slow := func(when string) {
		t.Helper()
		began := time.Now()
		c.send(t, "PING")
		c.want(t, "+PONG")
		if took := time.Since(began); took < 2*least {
			t.Errorf("%s: there and back in %v", when, took)
		}
	}
	slow("at first")
	a := r.impair(Impairment{Kind: Delay, Delay: time.Millisecond})
	slow("under a delay")
	if _, err := a.Heal(testContext(t)); err != nil {
		t.Fatal(err)
	}
	r.impair(Impairment{Kind: Zombie})
	if err := f.Reset(testContext(t)); err != nil {
		t.Fatal(err)
	}
	slow("after a reset of everything")
}

// Who comes last on a paced fabric does so on a virtual one of the same seed.
func TestPacedRanks(t *testing.T) {
	ranks := &Ranks{Of: Clients, Longest: time.Second}
	names := []string{"c00.n1", "c00.store", "c01.n1", "c01.store", "c02.n1", "c02.store"}
	real, virtual := newRanking(ranks, 7), newRanking(ranks, 7)
	p := &pacing{pace: Pace{Ranks: ranks}, seed: 7, ranks: real}
	delays := map[string]bool{}
	for i, name := range names {
		port := &directionPort{}
		_, port.directions.up = newDirection(nil)
		_, port.directions.down = newDirection(port.directions.up)
		p.lay(name, uint64(i), port)
		virtual.add(name)
		for _, d := range []Direction{Up, Down} {
			if laid, _ := port.direction(d).since(0); len(laid) != 1 || laid[0].effect.travel == nil {
				t.Fatalf("%s %s: %+v", name, d, laid)
			}
		}
	}
	for _, name := range names {
		took := p.pace.travel(p.seed, p.ranks, flowID{link: name, toward: Up})
		if want := virtual.later(name, Up); took != want {
			t.Errorf("%s: %v in place of %v", name, took, want)
		}
		delays[took.String()] = true
	}
	if len(delays) != 3 {
		t.Errorf("%v: want a delay of its own for each of three clients", delays)
	}
}

// A message that is under way meets no fault that begins meanwhile: the pace comes last.
func TestPaceComesAfterFaults(t *testing.T) {
	port := &directionPort{}
	_, port.directions.up = newDirection(nil)
	_, port.directions.down = newDirection(port.directions.up)
	(&pacing{pace: Pace{Least: time.Millisecond}}).lay("c00.n1", 0, port)
	f := &flow{direction: port.directions.up, wake: make(chan struct{}, 1)}
	f.addNewEffects()
	for _, k := range []Kind{RequestLost, Zombie} {
		port.directions.up.lay(string(k), &effect{treatment: recipes[k][Up], impair: Impairment{Kind: k}})
		f.addNewEffects()
	}
	var got []Kind
	for _, e := range f.effects {
		got = append(got, e.impair.Kind)
	}
	if !slices.Equal(got, []Kind{RequestLost, Zombie, Delay}) {
		t.Errorf("%v: want the faults in their order, and then the pace", got)
	}
}
