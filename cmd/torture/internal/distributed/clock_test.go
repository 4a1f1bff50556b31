package distributed

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A model is a worker's clock as it really is: ahead by offset, faster by drift, and from
// step on by another jump.
type model struct {
	offset, step, jump time.Duration
	drift              float64
}

// shows is what the clock shows at a time of the coordinator's.
func (m model) shows(at time.Duration) time.Duration {
	shown := at + m.offset + time.Duration(m.drift*float64(at))
	if m.jump != 0 && at >= m.step {
		shown += m.jump
	}
	return shown
}

// read asks the clock every so often for as long as a run lasts; out and back take what
// the network takes.
func (m model) read(rng *rand.Rand, run time.Duration) (all []Reading) {
	next := func(at time.Duration) time.Duration { // the last one at the end
		if at == run {
			return run + 1
		}
		return min(run, at+time.Duration(rng.Int64N(int64(time.Second)))+50*time.Millisecond)
	}
	for at := time.Duration(0); at <= run; at = next(at) {
		out, back := 20*time.Microsecond+time.Duration(rng.ExpFloat64()*2e5), 20*time.Microsecond+time.Duration(rng.ExpFloat64()*2e5)
		all = append(all, Reading{Sent: at, Got: m.shows(at + out), Answered: m.shows(at + out + time.Microsecond), Back: at + out + time.Microsecond + back})
	}
	return all
}

// TestClockBounds: whatever the network does and however the clock goes, within what
// clocks do, no time that is turned is further off than the bound says, and none becomes
// earlier than an earlier one.
func TestClockBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := model{
			offset: time.Duration(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "offset")),
			drift:  rapid.Float64Range(-maxDrift*0.99, maxDrift*0.99).Draw(t, "drift"),
		}
		run := time.Duration(rapid.Int64Range(int64(time.Second), int64(time.Minute)).Draw(t, "run"))
		if rapid.Bool().Draw(t, "moved") {
			m.jump = 2 * time.Second
			if rapid.Bool().Draw(t, "back") {
				m.jump = -m.jump
			}
			m.step = run / 2
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		readings := m.read(rng, run)
		c := EstimateClock(readings, m.shows(0), m.shows(run+time.Second))
		if (c.Stepped != 0) != (m.jump != 0) {
			t.Fatalf("stepped by %v, and it was by %v", c.Stepped, m.jump)
		}
		last, before := time.Duration(-1<<62), time.Duration(-1<<62)
		for at := time.Duration(0); at < run+time.Second; at += run / 97 {
			shown := m.shows(at)
			turned := c.Coordinator(shown)
			if off := (turned - at).Abs(); off > c.Epsilon+2 {
				t.Fatalf("at %v the clock showed %v, which became %v: off by %v, and the bound is %v", at, shown, turned, off, c.Epsilon)
			}
			if shown >= before && turned < last {
				t.Fatalf("%v after %v became %v after %v", shown, before, turned, last)
			}
			last, before = turned, shown
		}
	})
}

// TestClockOvertaken: of two questions that are on their way together the later one may be
// there first, which moves no clock.
func TestClockOvertaken(t *testing.T) {
	at := func(sent, got, back time.Duration) Reading {
		return Reading{Sent: sent, Got: got, Answered: got, Back: back}
	}
	ms := time.Millisecond
	for name, readings := range map[string][]Reading{
		"the later one is faster": {at(0, ms, 2*ms), at(100*ms, 109*ms, 110*ms), at(105*ms, 106*ms, 107*ms), at(200*ms, 201*ms, 202*ms)},
		"the later one is slower": {at(0, ms, 2*ms), at(100*ms, 108*ms, 109*ms), at(103*ms, 104*ms, 115*ms), at(200*ms, 201*ms, 202*ms)},
	} {
		c := EstimateClock(readings, 0, 201*ms)
		if c.Stepped != 0 || c.Epsilon > 2*ms || c.Offset.Abs() > ms {
			t.Errorf("%s: offset %v, bound %v, stepped %v", name, c.Offset, c.Epsilon, c.Stepped)
		}
	}
}

// TestClockMovedMeanwhile: two readings that are on their way together and contradict each other show
// that the clock was moved, also where they are the last ones; and one that the worker was slow to answer
// takes no better one's place.
func TestClockMovedMeanwhile(t *testing.T) {
	ms := time.Millisecond
	moved := []Reading{{0, 2 * ms, ms, ms}, {100 * ms, 110 * ms, 101 * ms, 101 * ms}, {105 * ms, 107 * ms, 2106 * ms, 2106 * ms}}
	if c := EstimateClock(moved, 0, 2106*ms); c.Stepped == 0 || c.Epsilon < 900*ms {
		t.Errorf("moved by two seconds: stepped %v, bound %v", c.Stepped, c.Epsilon)
	}
	slow := []Reading{{0, 2 * ms, ms, ms}, {100 * ms, 102 * ms, 101 * ms, 101 * ms}, {101 * ms, 5001 * ms, 102 * ms, 5000 * ms}, {5100 * ms, 5102 * ms, 5101 * ms, 5101 * ms}}
	if kept := oneByOne(slow); len(kept) != 3 || kept[1].Sent != 100*ms {
		t.Errorf("kept %v", kept)
	}
}

// TestClockIsKnownWell: over a network that answers within a millisecond, half of that is
// what remains, and the drift is found.
func TestClockIsKnownWell(t *testing.T) {
	m := model{offset: 2 * time.Second, drift: 50e-6}
	c := EstimateClock(m.read(rand.New(rand.NewPCG(1, 1)), time.Minute), m.shows(0), m.shows(time.Minute))
	if c.Stepped != 0 || c.Epsilon > 500*time.Microsecond || (c.Offset-2*time.Second).Abs() > 3*time.Millisecond {
		t.Errorf("offset %v, bound %v, stepped %v", c.Offset, c.Epsilon, c.Stepped)
	}
	if off := c.Drift - m.drift; off > c.Off || -off > c.Off || c.Off > 20e-6 {
		t.Errorf("drift %g ± %g", c.Drift, c.Off)
	}
}

// TestClockWithoutReadings knows nothing, and says so.
func TestClockWithoutReadings(t *testing.T) {
	if c := EstimateClock(nil, 0, time.Second); c.Epsilon < time.Hour {
		t.Errorf("bound %v", c.Epsilon)
	}
}
