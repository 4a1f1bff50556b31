package distributed

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestMovedClock: a worker's clock is moved by 2 s in the middle of a section, on or back,
// or is 2 s off all the time. A lock that grants one after another is not accused; a token
// given twice is found all the same.
func TestMovedClock(t *testing.T) {
	for _, m := range []model{{offset: 2 * time.Second}, {step: 10050 * time.Millisecond, jump: 2 * time.Second}, {offset: 5 * time.Second, step: 10050 * time.Millisecond, jump: -2 * time.Second}} {
		clock := EstimateClock(m.read(rand.New(rand.NewPCG(1, 2)), 20*time.Second), m.shows(0), m.shows(20*time.Second))
		for _, c := range []struct {
			name  string
			token int // of the other worker's lease
			want  []string
		}{{"one after another", 3, nil}, {"with a token that was given before", 2, []string{"S4b"}}} {
			if m.jump == 0 && c.want != nil {
				c.want = []string{"S4", "S4b"} // which came first the clocks tell, too
			}
			latest := time.Duration(0)
			at := func(d time.Duration) time.Duration { latest = max(latest, m.shows(d)); return latest } // a recorder's stamps never go back
			a, h := source(t, "a", head+fmt.Sprintf(`
				%v c0 invoke acquire k
				%v c0 ok acquire k until %v fence 2
				%v c0 invoke write k value c0/1
				%v c0 ok write k value c0/1 seq 1
				%v c0 invoke write k value c0/2
				%v c0 ok write k value c0/2 seq 2
				%v c0 invoke release k
				%v c0 ok release k`, at(10*time.Second), at(10001*time.Millisecond), m.shows(10*time.Second)+900*time.Millisecond,
				at(10002*time.Millisecond), at(10003*time.Millisecond), at(10100*time.Millisecond), at(10101*time.Millisecond), at(10102*time.Millisecond), at(10103*time.Millisecond)))
			a.Time = clock.Coordinator
			b, _ := source(t, "b", head+fmt.Sprintf(`
				10110ms c1 invoke acquire k
				10111ms c1 ok acquire k until 11s fence %d
				10112ms c1 invoke release k
				10113ms c1 ok release k`, c.token))
			end, _ := source(t, "coordinator", head+"20s nemesis ok phase end")
			_, found := judged(h, clock.Epsilon, []string{"a", "b", "coordinator"}, merged(t, h, append([]Source{end, a, b}, Moved(a, clock)...)...))
			if !slices.Equal(found, c.want) {
				t.Errorf("clock %+v, %s: found %v, want %v (bound %v)", m, c.name, found, c.want, clock.Epsilon)
			}
		}
	}
}

// TestClockMovedBack: a worker's clock is moved back by 2 s. A recorder's stamps stand still
// until it shows what it had shown, beside promises that end before; a lock that finds its
// clock behind takes its lease for lost. Neither is held against it, and what was no doing
// of the clock's is.
func TestClockMovedBack(t *testing.T) {
	m := model{offset: 5 * time.Second, step: 10050 * time.Millisecond, jump: -2 * time.Second}
	clock := EstimateClock(m.read(rand.New(rand.NewPCG(1, 2)), 20*time.Second), m.shows(0), m.shows(20*time.Second))
	for _, c := range []struct {
		name    string
		granted time.Duration // by the coordinator's clock
		want    []string
	}{{"meanwhile", 10030 * time.Millisecond, nil}, {"soon after", 10200 * time.Millisecond, nil}, {"long after", 18 * time.Second, []string{"L5"}}} {
		latest := time.Duration(0)
		at := func(d time.Duration) time.Duration { latest = max(latest, m.shows(d)); return latest }
		a, h := source(t, "a", head+fmt.Sprintf(`
			%v nemesis ok phase main
			%v c0 invoke acquire k
			%v c0 ok acquire k until %v fence 2
			%v c0 ok lost k`, at(0), at(c.granted), at(c.granted+time.Millisecond), m.shows(c.granted)+900*time.Millisecond, at(c.granted+30*time.Millisecond)))
		a.Time, a.Clients = clock.Coordinator, []string{"c0"}
		end, _ := source(t, "coordinator", head+"20s nemesis ok phase end")
		events := merged(t, h, append([]Source{end, a}, Moved(a, clock)...)...)
		if _, found := judged(h, clock.Epsilon, []string{"a", "coordinator"}, events); !slices.Equal(found, c.want) {
			t.Errorf("a lease is granted %s and lost: found %v, want %v", c.name, found, c.want)
		}
	}
}
