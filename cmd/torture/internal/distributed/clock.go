package distributed

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A Reading is one exchange with a worker's clock. That the question was on its way
// before it came, and the answer before it was there, bounds the difference of both
// clocks with certainty: Cristian, "Probabilistic clock synchronization", 1989; the
// exchange is NTP's (RFC 5905).
type Reading struct {
	Sent     time.Duration `json:"sent_ns"` // when the question left, by the coordinator's clock
	Back     time.Duration `json:"back_ns"` // when the answer was there
	Got      time.Duration `json:"got_ns"`  // when the question was there, by the worker's clock
	Answered time.Duration `json:"answered_ns"`
}

// bounds are those of worker's clock less coordinator's.
func (r Reading) bounds() (low, high time.Duration) { return r.Answered - r.Back, r.Got - r.Sent }

func (r Reading) width() time.Duration { low, high := r.bounds(); return high - low }

// agrees reports whether one difference of the clocks is within the bounds of both.
func (r Reading) agrees(with Reading) bool {
	low, high := r.bounds()
	l, h := with.bounds()
	return low <= h && l <= high
}

// maxDrift is how much faster or slower one clock may go than the other, as a share: twice
// the 100 ppm that crystals stay within.
const maxDrift = 200e-6

// A Clock is a worker's clock as the coordinator knows it: how to turn the one's time
// into the other's, and how far that may be off.
type Clock struct {
	Offset  time.Duration // the worker's clock less the coordinator's, in the middle of the run
	Drift   float64       // by which it grows, as a share
	Off     float64       // by how much Drift may be off
	Epsilon time.Duration // by how much a time that was turned may be off
	Stepped time.Duration // by how much the clock was moved while the run went on; 0: it was not
	Read    int           // how many readings there were

	// Moves are the spans in which its clock was moved, on or back.
	Moves []Move

	knots []knot // in time order
}

// A Move lies between two readings of a clock that no drift explains.
type Move struct {
	From, To   time.Duration // by the worker's clock, with all that it showed twice
	Since, End time.Duration // by the coordinator's: what was turned into a time beyond happened without it
}

// A knot is what is known of a clock at a moment.
type knot struct {
	at        time.Duration // by the worker's clock
	low, high time.Duration
}

func (k knot) mid() time.Duration  { return k.low + (k.high-k.low)/2 }
func (k knot) half() time.Duration { return (k.high - k.low + 1) / 2 }

// EstimateClock makes the most of all readings for a span of the worker's time. Each
// bounds the difference at its moment, and by the greatest possible drift at every other
// moment too; what all of them allow remains. Where nothing does, the clock was moved:
// then any of the differences that were seen may have been in force.
func EstimateClock(readings []Reading, from, to time.Duration) Clock {
	c := Clock{Read: len(readings), Epsilon: math.MaxInt64 / 4}
	if len(readings) == 0 {
		return c
	}
	readings = oneByOne(readings)
	for _, r := range readings {
		low, high := r.bounds()
		c.knots = append(c.knots, knot{r.Got + (r.Answered-r.Got)/2, low, high})
	}
	seen := slices.Clone(c.knots)
	for i := 1; i < len(c.knots); i++ {
		c.knots[i].narrow(c.knots[i-1])
	}
	for i := len(c.knots) - 2; i >= 0; i-- {
		c.knots[i].narrow(c.knots[i+1])
	}
	backwards := !slices.IsSortedFunc(c.knots, func(a, b knot) int { return cmp.Compare(a.at, b.at) })
	if backwards || slices.ContainsFunc(c.knots, func(k knot) bool { return k.low > k.high }) {
		first, last := readings[0], readings[len(readings)-1]
		c.moved(seen, readings, last.Back-first.Sent+max(to-last.Answered, 0)+max(first.Got-from, 0))
	} else {
		c.bound(from, to)
	}
	first, last := c.knots[0], c.knots[len(c.knots)-1]
	c.Offset = first.mid() + (last.mid()-first.mid())/2
	if span := float64(last.at - first.at); span > 0 {
		c.Drift, c.Off = float64(last.mid()-first.mid())/span, float64(last.half()+first.half())/span
	}
	return c
}

// oneByOne are the readings in the order in which they were asked for, without the slower
// ones of those that were on their way together and may both be right: a question may overtake
// an earlier one, and the clock would seem to have gone back. Two that contradict each other
// show that it was moved.
func oneByOne(readings []Reading) (kept []Reading) {
	for _, r := range slices.SortedFunc(slices.Values(readings), func(a, b Reading) int { return cmp.Compare(a.Sent, b.Sent) }) {
		last := len(kept) - 1
		switch {
		case last < 0 || kept[last].Back <= r.Sent || !r.agrees(kept[last]):
			kept = append(kept, r)
		case r.Back-r.Sent < kept[last].Back-kept[last].Sent:
			kept[last] = r // sent later than the one it takes the place of: it follows the one before too
		}
	}
	return kept
}

// narrow leaves of k what its neighbour allows.
func (k *knot) narrow(by knot) {
	reach := drifted((k.at - by.at).Abs())
	k.low, k.high = max(k.low, by.low-reach), min(k.high, by.high+reach)
}

func drifted(span time.Duration) time.Duration {
	return time.Duration(math.Ceil(float64(span) * maxDrift))
}

// bound says how far times of a span may be off: at a knot by half of what remains, and
// between two of them, along the line that joins their middles, by half of the drift over
// the time between more.
func (c *Clock) bound(from, to time.Duration) {
	first, last := c.knots[0], c.knots[len(c.knots)-1]
	c.Epsilon = max(first.half()+drifted(max(first.at-from, 0)), last.half()+drifted(max(to-last.at, 0)))
	for i := 1; i < len(c.knots); i++ {
		a, b := c.knots[i-1], c.knots[i]
		c.Epsilon = max(c.Epsilon, max(a.half(), b.half())+drifted((b.at-a.at)/2+1))
	}
}

// moved is for a clock that was moved, which seen, by readings, shows: any difference
// between the least and the greatest that was seen may have been in force at any moment of
// the span.
func (c *Clock) moved(seen []knot, readings []Reading, span time.Duration) {
	all := knot{at: seen[0].at, low: math.MaxInt64, high: math.MinInt64}
	lowest, highest := time.Duration(math.MaxInt64), time.Duration(math.MinInt64)
	for _, k := range seen {
		all.low, all.high = min(all.low, k.low), max(all.high, k.high)
		lowest, highest = min(lowest, k.mid()), max(highest, k.mid())
	}
	all.low, all.high = all.low-drifted(span), all.high+drifted(span)
	c.knots, c.Epsilon, c.Stepped = []knot{all}, all.half(), max(highest-lowest, 1)
	for i := 1; i < len(seen); i++ {
		was, is := seen[i-1], seen[i]
		reach := drifted((is.at - was.at).Abs())
		m := Move{was.at, is.at, max(readings[i-1].Sent-c.Epsilon, 0), min(readings[i].Back+c.Epsilon, readings[len(readings)-1].Back)}
		switch back := was.mid() - is.mid(); {
		case is.high < was.low-reach: // a recorder's stamps stand still until the clock shows again what it had shown
			m.From, m.To = m.From-back, m.To+back
		case is.low <= was.high+reach:
			continue
		}
		c.Moves = append(c.Moves, m)
	}
}

// Coordinator turns a time of the worker's clock into the coordinator's. Later times
// never become earlier ones.
func (c *Clock) Coordinator(t time.Duration) time.Duration {
	i, _ := slices.BinarySearchFunc(c.knots, t, func(k knot, t time.Duration) int { return cmp.Compare(k.at, t) })
	switch {
	case len(c.knots) == 0:
		return t
	case i == 0:
		return t - c.knots[0].mid()
	case i == len(c.knots):
		return t - c.knots[i-1].mid()
	}
	a, b := c.knots[i-1], c.knots[i]
	share := float64(t-a.at) / float64(b.at-a.at)
	return t - a.mid() - time.Duration(share*float64(b.mid()-a.mid()))
}
