package link

import "time"

// A Pace says how long messages travel. The zero Pace is 0.1 to 0.4 ms.
type Pace struct {
	Least  time.Duration // one way
	Spread time.Duration // added to it, drawn evenly for each message
	Slow   float64       // share of messages …
	Slower int           // … that take this many times as long

	Ranks *Ranks // who is delayed besides; nil: nobody
}

// A flowID is one direction of a fabric's link, by its name and its number in the order in which
// links were opened.
type flowID struct {
	link   string
	number uint64
	toward Direction
}

// travel draws how long a message takes that is sent now. The draw depends on the seed, its way
// and the instant, and on nothing that was drawn before.
func (p Pace) travel(seed uint64, ranks *ranking, f flowID) time.Duration {
	x := mix(mix(seed, f.number<<1|side(f.toward)), uint64(time.Now().UnixNano()))
	t := p.Least
	if p.Spread > 0 {
		t += time.Duration(x % uint64(p.Spread))
	}
	if p.Slow > 0 && float64(mix(x, 1)>>11)/(1<<53) < p.Slow {
		t *= time.Duration(p.Slower)
	}
	if ranks != nil {
		t += ranks.later(f.link, f.toward)
	}
	return t
}

func side(d Direction) uint64 {
	if d == Down {
		return 1
	}
	return 0
}

// mix is splitmix64 of both.
func mix(a, b uint64) uint64 {
	x := a + 0x9e3779b97f4a7c15*(b+1)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// A pacing delays the messages of an embedded fabric as its Pace says, all the time and without a
// fault: a network in which messages take as long as in another one.
type pacing struct {
	pace  Pace
	seed  uint64
	ranks *ranking // nil: nobody is delayed besides
}

// NewPaced is NewEmbedded where messages travel as p says; those of the same seed and ranks come
// last as on a virtual fabric. Dials pass at once.
func NewPaced(seed uint64, p Pace) Fabric {
	e := newEmbedded()
	e.pacing = &pacing{pace: p, seed: seed}
	if p.Ranks != nil {
		e.pacing.ranks = newRanking(p.Ranks, seed)
	}
	return newFabric(e)
}

// lay puts the delays of one link on both its directions, for good.
func (p *pacing) lay(link string, number uint64, port *directionPort) {
	if p.ranks != nil {
		p.ranks.add(link)
	}
	for _, toward := range []Direction{Up, Down} {
		f := flowID{link, number, toward}
		port.direction(toward).lay("pace-"+string(toward), &effect{
			treatment: lag, impair: Impairment{Kind: Delay}, travel: func() time.Duration { return p.pace.travel(p.seed, p.ranks, f) },
		})
	}
}
