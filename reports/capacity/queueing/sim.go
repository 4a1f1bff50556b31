package queueing

import (
	"cmp"
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

	// A Window that is not 0 has the load begin with nothing under way, and looks at this
	// many seconds of it, after those of Warmup, again and again: as a measurement does.
	// Else it is looked at in the long run.
	Warmup, Window float64
}

// Delays are the seconds that the network adds, whatever the load.
type Delays struct {
	Acquire, Release float64 // on average
	Spread           Spread  // of both; an empty one: they are always the same
	Least            float64 // that an acquire takes with its work, whatever is drawn: a round trip
	HandOff          float64 // from a release to the next owner's attempt, of a key that is waited for
	Handed           float64 // the work of such a release and such an attempt, over that of others; 0 is 1
	HandedTrips      float64 // what the network adds to them, over what it adds to others; 0 is 1
}

// HandedPart is Handed, where nothing is given 1.
func (d Delays) HandedPart() float64 { return cmp.Or(d.Handed, 1) }

// HandedNetwork is what the network adds to a release and an attempt by which a key that is
// waited for changes hands.
func (d Delays) HandedNetwork() float64 { return (d.Acquire + d.Release) * cmp.Or(d.HandedTrips, 1) }

func (d Delays) draw(mean float64, rng *rand.Rand) float64 {
	if mean == 0 || len(d.Spread) == 0 {
		return mean
	}
	return mean * d.Spread.draw(rng)
}

// An Outcome is what became of a demand.
type Outcome struct {
	Rate      float64 // pairs completed per second
	Mean      float64 // of the acquire
	P50, P99  float64 // of the acquire, in seconds from the intended start
	Behind    bool    // arrivals came faster than they were served; P50 and P99 grow with the time
	Under     int     // requests under way in the service, at most
	MeanUnder float64
	Waited    float64 // share of grants for which a key was waited for
	KeyBusy   float64 // share of the time in which the busiest key was in use
	Work      float64 // pairs per second that the service did, attempts that met a key in use included
}

// KeptUp is the share of what arrives from which on a service counts as keeping up with it,
// and the share of its time in use up to which a line does: the rest is what is still under
// way when a play of finite length ends, and how far such a play strays by chance.
const KeptUp = 0.97

// Simulate plays pairs of acquire and release through the service, in virtual time.
// The centre is shared by all requests that are in it (processor sharing at the rate
// of the curve); the requests for a key that is in use wait in line for it, after
// one attempt that was refused. Of windows the outcome is the mean, and Behind when it
// is so in most.
func Simulate(c Curve, d Demand, delays Delays, pairs int, rng *rand.Rand) Outcome {
	if d.Window <= 0 {
		return simulate(c, d, delays, pairs, rng)
	}
	var all []Outcome
	for done := 0.0; len(all) < leastWindows || done < float64(pairs) && len(all) < mostWindows; {
		one := simulate(c, d, delays, pairs, rng)
		all, done = append(all, one), done+one.Rate*d.Window
	}
	return meanOf(all)
}

// How many windows are played.
const (
	leastWindows = 5
	mostWindows  = 60
)

func meanOf(all []Outcome) (sum Outcome) {
	behind, n := 0, float64(len(all))
	for _, o := range all {
		sum.Rate += o.Rate / n
		sum.P50 += o.P50 / n
		sum.P99 += o.P99 / n
		sum.MeanUnder += o.MeanUnder / n
		sum.Waited += o.Waited / n
		sum.KeyBusy += o.KeyBusy / n
		sum.Work += o.Work / n
		sum.Under = max(sum.Under, o.Under)
		if o.Behind {
			behind++
		}
	}
	sum.Behind = 2*behind > len(all)
	return sum
}

func simulate(c Curve, d Demand, delays Delays, pairs int, rng *rand.Rand) Outcome {
	s := &simulation{curve: c, demand: d, delays: delays, rng: rng, want: pairs, keys: map[int]*key{}}
	if s.warm = pairs / 3; d.Window > 0 {
		s.began, s.end = d.Warmup, d.Warmup+d.Window
	}
	if d.Rate > 0 && d.Window <= 0 {
		s.demand.Rate = min(d.Rate, mostTimes*c.Highest())
	}
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
	delays Delays
	rng    *rand.Rand

	now, virtual float64
	time         agenda[step] // by time
	centre       agenda[step] // by virtual time, in which every request of the centre advances alike
	keys         map[int]*key

	want, warm, done int
	began            float64 // of what counts
	end              float64 // of a window; 0: there is none
	counted          int     // pairs done in the window
	out              Outcome
	response         []float64
	grants, waits    int
	arrived          int
	outrun           bool // arrivals found no place
	area, worked     float64
}

func (s *simulation) later(after float64, e step) { s.time.add(s.now+after, e) }

// enter puts work into the centre, in units of a pair.
func (s *simulation) enter(work float64, e step) {
	s.centre.add(s.virtual+work, e)
	if s.counting() {
		s.out.Under = max(s.out.Under, len(s.centre.all))
	}
}

// counting reports whether what happens now is looked at.
func (s *simulation) counting() bool {
	if s.end > 0 {
		return s.now >= s.began
	}
	return s.done >= s.warm
}

// Of arrivals that outrun the service, in the long run: a line for a key, and a crowd in
// the centre, that are so long do not end before the play does, so that nobody else has to
// join them; and of a rate so many times that of the centre only so much is played.
const (
	longLine   = 1000
	largeCrowd = 2000
	mostTimes  = 10
	arrivalsOf = 60 // arrivals that are played, at most, for every pair that is wanted
)

// over reports whether enough was seen: the window is over, or enough pairs are done or
// have been asked for.
func (s *simulation) over() bool {
	if s.end > 0 {
		return s.now >= s.end
	}
	return s.done >= s.want || s.arrived >= arrivalsOf*s.want
}

// crowded reports whether an arrival finds more requests before it than will be served in
// the play. It is not played, and what arrives is more than is served.
func (s *simulation) crowded(n int) bool {
	if s.end > 0 || s.demand.Rate == 0 {
		return false
	}
	k := s.keys[n]
	return len(s.centre.all) >= min(largeCrowd, s.want/6) || k != nil && len(k.waiting) >= min(longLine, s.want/6)
}

func (s *simulation) run() {
	for !s.over() && len(s.time.all)+len(s.centre.all) > 0 {
		n, speed, next := len(s.centre.all), 0.0, math.Inf(1)
		if n > 0 {
			speed = s.curve.Rate(n) / float64(n)
			next = s.now + (s.centre.all[0].at-s.virtual)/speed
		}
		fromCentre := len(s.time.all) == 0 || next <= s.time.all[0].at
		if !fromCentre {
			next = s.time.all[0].at
		}
		if s.counting() {
			s.area += float64(n) * (next - s.now)
			s.worked += speed * float64(n) * (next - s.now)
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
		s.acquire(e, s.delays.HandedPart())
	case acquired:
		e.kind = granted
		s.later(max(s.delays.draw(s.delays.Acquire, s.rng)*s.handed(e.waited), e.due+s.delays.Least-s.now), e)
	case granted:
		s.grant(e)
	case release:
		e.kind = released
		size := s.curve.nearest(len(s.centre.all) + 1)
		work := (1 - size.Share) * size.Release.draw(s.rng)
		if len(s.key(e.key).waiting) > 0 {
			work *= s.delays.HandedPart()
		}
		s.enter(work, e)
	case released:
		e.kind = freed
		s.later(s.delays.draw(s.delays.Release, s.rng)*s.handed(len(s.key(e.key).waiting) > 0), e)
	case freed:
		s.free(e)
	}
}

// handed is the factor of what the network adds, to a hand-over or not.
func (s *simulation) handed(over bool) float64 {
	if !over {
		return 1
	}
	return cmp.Or(s.delays.HandedTrips, 1)
}

func (s *simulation) ask(e step) {
	s.arrived++
	e.due = s.now
	if e.key = e.by; !s.demand.OwnKeys || e.by < 0 {
		e.key = s.demand.Keys.Draw(s.rng)
	}
	if s.crowded(e.key) {
		s.outrun = true
		if s.done < s.warm && s.arrived >= arrivalsOf*s.want/3 { // what is served so slowly has no longer warm-up
			s.warm, s.began = s.done, s.now
		}
		return
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
	s.acquire(e, 1)
}

func (s *simulation) acquire(e step, part float64) {
	e.kind = acquired
	size := s.curve.nearest(len(s.centre.all) + 1)
	s.enter(part*size.Share*size.Acquire.draw(s.rng), e)
}

// counts reports whether a request's time is looked at.
func (s *simulation) counts(e step) bool {
	if s.end > 0 {
		return e.due >= s.began
	}
	return s.done >= s.warm
}

func (s *simulation) grant(e step) {
	if s.counts(e) {
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
	if s.done == s.warm && s.end == 0 {
		s.began = s.now
	}
	k := s.key(e.key)
	if s.counting() {
		s.counted++
		k.busy += s.now - max(k.since, s.began)
	}
	if k.since = s.now; len(k.waiting) > 0 {
		next := k.waiting[0]
		k.waiting = k.waiting[1:]
		next.kind = attempt
		s.later(s.delays.HandOff, next)
	} else {
		k.used = false
	}
	if s.demand.Rate == 0 {
		s.later(s.demand.Think, step{kind: begin, by: e.by})
	}
}

// cutOff files the ages of the requests that the end of the window cut off, those aside
// that have waited for too short a time to say anything: a tenth of the window at most,
// as the measurement has it.
func (s *simulation) cutOff() {
	file := func(e step) {
		waits := e.kind == granted || e.kind == refused || e.kind == acquired || e.kind == attempt
		if age := s.end - e.due; waits && s.counts(e) && age > min(s.demand.Window/10, 1) {
			s.response = append(s.response, age)
		}
	}
	for _, e := range s.time.all {
		file(e.job)
	}
	for _, e := range s.centre.all {
		file(e.job)
	}
	for _, k := range s.keys {
		for _, e := range k.waiting {
			file(e)
		}
	}
}

func (s *simulation) outcome() Outcome {
	if s.end > 0 {
		s.cutOff()
	}
	span := s.now - s.began
	if s.counted > 0 && span > 0 {
		s.out.Rate = float64(s.counted) / span
		s.out.MeanUnder, s.out.Work = s.area/span, s.worked/span
		for _, k := range s.keys {
			s.out.KeyBusy = max(s.out.KeyBusy, min(k.busy/span, 1))
		}
	}
	if len(s.response) > 0 {
		slices.Sort(s.response)
		for _, d := range s.response {
			s.out.Mean += d / float64(len(s.response))
		}
		s.out.P50, s.out.P99 = s.response[len(s.response)/2], s.response[len(s.response)*99/100]
	}
	if s.grants > 0 {
		s.out.Waited = float64(s.waits) / float64(s.grants)
	}
	// Where arrivals outrun the service the backlog has grown all the time.
	s.out.Behind = s.demand.Rate > 0 && (s.outrun || s.out.Rate < KeptUp*s.demand.Rate)
	return s.out
}
