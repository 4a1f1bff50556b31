package queueing

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Demand is what is asked of a service: Rate arrivals per second in an open loop,
// or Clients that ask again and again when Rate is 0.
type Demand struct {
	Rate    float64
	Clients int
	OwnKeys bool // every client of a closed loop has a key of its own
	Keys    Popularity
	Hold    float64 // seconds
	Think   float64 // seconds between two rounds of a client
}

// Delays are the seconds that the road adds, whatever the load.
type Delays struct {
	Acquire, Release float64
	HandOff          float64 // from a release to the next owner's attempt, of a key that is waited for
}

// An Outcome is what became of a demand.
type Outcome struct {
	Rate      float64 // pairs completed per second
	P50, P99  float64 // of the acquire, in seconds from the intended start
	Behind    bool    // arrivals came faster than they were served; P50 and P99 grow with the time
	Under     int     // requests under way in the service, at most
	MeanUnder float64
	Waited    float64 // share of grants for which a key was waited for
	KeyBusy   float64 // share of the time in which the busiest key was in use
}

// Simulate plays pairs of acquire and release through the service, in virtual time.
// The centre is shared by all requests that are in it (processor sharing at the rate
// of the curve); the requests for a key that is in use wait in line for it, after
// one attempt that was refused.
func Simulate(c Curve, d Demand, road Delays, pairs int, rng *rand.Rand) Outcome {
	s := &simulation{curve: c, demand: d, road: road, rng: rng, want: pairs, keys: map[int]*key{}}
	s.warm = pairs / 3
	if d.Rate > 0 {
		s.later(rng.ExpFloat64()/d.Rate, step{kind: arrive})
	}
	for i := range d.Clients {
		if d.Rate == 0 {
			s.later(rng.Float64()*d.Think, step{kind: begin, by: i})
		}
	}
	s.run()
	return s.outcome()
}

// The kinds of steps.
const (
	arrive   = iota // the next arrival of an open loop
	begin           // a client asks
	attempt         // a request that was woken asks again
	refused         // its first attempt met a key that is in use
	acquired        // the centre is done with the acquire
	granted         // and the reply is here
	release         // the hold is over
	released        // the centre is done with the release
	freed           // and the reply is here
)

type step struct {
	kind, by, key int
	due           float64
	waited        bool
}

type key struct {
	used    bool
	waiting []step
	busy    float64
	since   float64
}

type simulation struct {
	curve  Curve
	demand Demand
	road   Delays
	rng    *rand.Rand

	now, virtual float64
	time         agenda[step] // by time
	centre       agenda[step] // by virtual time, in which every request of the centre advances alike
	keys         map[int]*key

	want, warm, done int
	began            float64 // of what counts
	out              Outcome
	response         []float64
	grants, waits    int
	arrived, under   int
	area             float64
}

func (s *simulation) later(after float64, e step) { s.time.add(s.now+after, e) }

// enter puts work into the centre, in units of a pair.
func (s *simulation) enter(work float64, e step) {
	s.centre.add(s.virtual+work, e)
	if s.done >= s.warm {
		s.out.Under = max(s.out.Under, len(s.centre.all))
	}
}

// run plays until enough pairs are done, or arrivals are far ahead of them.
func (s *simulation) run() {
	for s.done < s.want && s.under < 2*s.want && len(s.time.all)+len(s.centre.all) > 0 {
		n, speed, next := len(s.centre.all), 0.0, math.Inf(1)
		if n > 0 {
			speed = s.curve.Rate(n) / float64(n)
			next = s.now + (s.centre.all[0].at-s.virtual)/speed
		}
		fromCentre := len(s.time.all) == 0 || next <= s.time.all[0].at
		if !fromCentre {
			next = s.time.all[0].at
		}
		if s.done >= s.warm {
			s.area += float64(n) * (next - s.now)
		}
		s.virtual += speed * (next - s.now)
		s.now = next
		if fromCentre {
			s.virtual = s.centre.all[0].at
			s.play(s.centre.pop())
		} else {
			s.play(s.time.pop())
		}
	}
}

func (s *simulation) play(e step) {
	switch e.kind {
	case arrive:
		s.later(s.rng.ExpFloat64()/s.demand.Rate, step{kind: arrive})
		s.ask(step{by: -1})
	case begin:
		s.ask(e)
	case refused:
		if k := s.key(e.key); k.used {
			k.waiting = append(k.waiting, e)
		} else {
			s.use(k, e)
		}
	case attempt:
		s.acquire(e)
	case acquired:
		e.kind = granted
		s.later(s.road.Acquire, e)
	case granted:
		s.grant(e)
	case release:
		e.kind = released
		size := s.curve.nearest(len(s.centre.all) + 1)
		s.enter((1-size.Share)*size.Release.draw(s.rng), e)
	case released:
		e.kind = freed
		s.later(s.road.Release, e)
	case freed:
		s.free(e)
	}
}

func (s *simulation) ask(e step) {
	s.arrived++
	s.under++
	e.due = s.now
	if e.key = e.by; !s.demand.OwnKeys || e.by < 0 {
		e.key = s.demand.Keys.Draw(s.rng)
	}
	k := s.key(e.key)
	if !k.used {
		s.use(k, e)
		return
	}
	e.kind, e.waited = refused, true
	size := s.curve.nearest(len(s.centre.all) + 1)
	s.enter(size.Share*size.Acquire.draw(s.rng), e)
}

func (s *simulation) key(n int) *key {
	k := s.keys[n]
	if k == nil {
		k = &key{}
		s.keys[n] = k
	}
	return k
}

func (s *simulation) use(k *key, e step) {
	k.used, k.since = true, s.now
	s.acquire(e)
}

func (s *simulation) acquire(e step) {
	e.kind = acquired
	size := s.curve.nearest(len(s.centre.all) + 1)
	s.enter(size.Share*size.Acquire.draw(s.rng), e)
}

func (s *simulation) grant(e step) {
	if s.done >= s.warm {
		s.response = append(s.response, s.now-e.due)
		s.grants++
		if e.waited {
			s.waits++
		}
	}
	e.kind = release
	hold := s.demand.Hold
	if hold > 0 {
		hold += s.curve.nearest(max(len(s.centre.all), 1)).Over
	}
	s.later(hold, e)
}

func (s *simulation) free(e step) {
	s.done++
	s.under--
	if s.done == s.warm {
		s.began = s.now
	}
	k := s.key(e.key)
	if s.done > s.warm {
		k.busy += s.now - max(k.since, s.began)
	}
	if k.since = s.now; len(k.waiting) > 0 {
		next := k.waiting[0]
		k.waiting = k.waiting[1:]
		next.kind = attempt
		s.later(s.road.HandOff, next)
	} else {
		k.used = false
	}
	if s.demand.Rate == 0 {
		s.later(s.demand.Think, step{kind: begin, by: e.by})
	}
}

func (s *simulation) outcome() Outcome {
	span := s.now - s.began
	if s.done > s.warm && span > 0 {
		s.out.Rate = float64(s.done-s.warm) / span
		s.out.MeanUnder = s.area / span
		for _, k := range s.keys {
			s.out.KeyBusy = max(s.out.KeyBusy, min(k.busy/span, 1))
		}
	}
	if s.grants > 0 {
		slices.Sort(s.response)
		s.out.P50, s.out.P99 = s.response[len(s.response)/2], s.response[len(s.response)*99/100]
		s.out.Waited = float64(s.waits) / float64(s.grants)
	}
	// Where arrivals outrun the service the backlog has grown all the time.
	s.out.Behind = s.demand.Rate > 0 && (s.done < s.want || s.out.Rate < 0.97*s.demand.Rate)
	return s.out
}
