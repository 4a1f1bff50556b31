package reference

import (
	"math"
	"slices"
	"strings"
	"time"

	"locktorture/workload/history"
)

// An instant is an event as far as order goes.
type instant struct {
	process, index int
	time           time.Duration
	host           string // whose clock it is by
}

// An operation is an invocation and its completion, or a completion that needs
// none. An operation that is still open at the end is of unknown outcome.
type operation struct {
	history.Event         // the completion, where there is one; Key, Owner, Mode and Value are set
	asked         uint64  // the token at the invocation
	from, to      instant // invocation and completion
	unsent        bool    // it certainly never reached a server
	perhapsUnsent bool    // it failed before or after it was sent, nobody says which
	executed      bool    // a link saw that it was carried out
	several       bool    // it asked for other keys too, and any of them may be why it was refused
	waits         bool    // inside the lock
	said          bool    // by its own stamps it began when it did
}

// unwatched numbers the beginnings that are no events: each a process of its own.
const unwatched = -1000

type judge struct {
	history history.History // its Epsilon is that of the two clocks that may be furthest apart
	plain   time.Duration   // that of two events without a host
	nearest time.Duration   // that of the two that may be least apart
	end     time.Duration   // of what the history tells, when it is cut off
	ops     []*operation    // by invocation
	grants  []*grant        // by completion
	writes  []*write
	claims  []Claim
}

func (o *operation) events() []int { return []int{o.from.index, o.to.index} }

// token is that of the lease that the operation is about, or that it gave.
func (o *operation) token() uint64 {
	if o.asked != 0 {
		return o.asked
	}
	return o.Fence
}

// renamed reports whether o was told of another token than it had named.
func (o *operation) renamed() bool { return o.asked != 0 && o.Fence != 0 && o.asked != o.Fence }

// renewal reports whether the lock did o by itself: its owner hears of it only by a loss.
func (o *operation) renewal() bool {
	return o.Op == history.Extend && o.from.index == o.to.index
}

// read pairs invocations with completions, and settles what receipts settle.
func read(h history.History) *judge {
	j := &judge{history: h, plain: h.Header.Epsilon, nearest: h.Header.Epsilon, end: math.MaxInt64}
	j.clocks()
	if n := len(h.Events); h.Truncated && n > 0 {
		j.end = h.Events[n-1].Time
	}
	open, byIndex := map[int]*operation{}, map[int]*operation{}
	for i := range h.Events {
		e := &h.Events[i]
		at := instant{e.Process, e.Index, e.Time, e.Host}
		switch {
		case e.Op == history.Receipt && e.Node != "" && h.Header.Nodes > 1: // one node of several decides nothing
		case e.Op == history.Receipt:
			receipt(byIndex[e.Of], e.Value)
		case e.Process < 0:
		case e.Kind == history.Invoke:
			o := &operation{Event: *e, asked: e.Fence, from: at, to: at}
			o.Kind = history.Info
			if e.HasAll(history.HasBegan) {
				o.from.time = e.Began
			}
			open[e.Process], byIndex[e.Index] = o, o
			j.ops = append(j.ops, o)
		case open[e.Process] != nil && e.Op == open[e.Process].Op:
			complete(open[e.Process], e)
			delete(open, e.Process)
		default:
			o := &operation{Event: *e, from: at, to: at}
			o.from.process = unwatched - e.Index // nobody's line says when it began
			complete(o, e)
			j.ops = append(j.ops, o)
		}
	}
	for _, o := range open { // whenever it may end
		o.to = instant{o.from.process, len(h.Events), math.MaxInt64, ""}
	}
	return j
}

func complete(o *operation, e *history.Event) {
	invoked := o.Event
	o.Event, o.to = *e, instant{e.Process, e.Index, e.Time, e.Host}
	o.Key, o.Owner, o.Mode = invoked.Key, invoked.Owner, invoked.Mode
	o.said = invoked.HasAll(history.HasBegan) || e.HasAll(history.HasBegan)
	o.several = invoked.Op == history.Acquire && invoked.Note == history.AskMulti
	o.waits = invoked.Op == history.Acquire && (invoked.Note == history.AskWait || invoked.Note == history.AskFair)
	if o.Value == "" {
		o.Value = invoked.Value
	}
	if !o.HasAll(history.HasBase) && invoked.HasAll(history.HasBase) {
		o.Base, o.Has = invoked.Base, o.Has|history.HasBase
	}
	if e.HasAll(history.HasBegan) {
		o.from.time = e.Began
	}
	if e.HasAll(history.HasEnded) {
		o.to.time = e.Ended
	}
	o.perhapsUnsent = e.Kind == history.Fail && strings.Contains(e.Err, "connection refused")
}

func receipt(o *operation, says string) {
	switch {
	case o == nil || o.Kind != history.Info:
	case says == history.NeverForwarded:
		o.unsent = true
	case says == history.Executed:
		o.executed = true
	}
}

// clocks takes the widest and the narrowest of the bounds of any two clocks: what lies
// between them is open.
func (j *judge) clocks() {
	h := &j.history.Header
	var first, second time.Duration // the widest of the hosts
	for _, host := range h.Hosts {
		j.nearest = min(j.nearest, host.Epsilon)
		second = max(second, min(first, host.Epsilon))
		first = max(first, host.Epsilon)
	}
	h.Epsilon = max(h.Epsilon, first+second)
}

// surely reports whether a came before b beyond doubt.
func (j *judge) surely(a, b instant) bool {
	if a.process == b.process {
		return a.index < b.index
	}
	return b.time-a.time > j.apart(a.host, b.host)
}

// alone reports whether one process, and no other, stamped all that became of some
// leases, as far as any word may be about them.
func alone(grants ...*grant) bool {
	process := grants[0].process()
	for _, g := range grants {
		if g.process() != process {
			return false
		}
		for _, e := range g.endings {
			if e.may.process != process || e.must.process != process {
				return false
			}
		}
		for _, x := range g.longer {
			if x.to.process != process {
				return false
			}
		}
	}
	return true
}

// uncertainty is how far apart the stamps of leases may be.
func (j *judge) uncertainty(grants ...*grant) time.Duration {
	if alone(grants...) {
		return 0
	}
	return j.history.Header.Epsilon
}

// between is how far apart the stamps of a lease and of an operation may be.
func (j *judge) between(g *grant, o *operation) time.Duration {
	if alone(g) && g.process() == o.Process {
		return 0
	}
	return j.history.Header.Epsilon
}

// least is what a time must exceed for some reading to grant that it was any: of one
// process's events it may be none by their stamps.
func (j *judge) least(g, h *grant) time.Duration {
	process := func(a, b *grant) bool {
		return a.process() == b.process() || slices.ContainsFunc(a.alike, func(x *grant) bool { return x.process() == b.process() })
	}
	if process(g, h) || process(h, g) {
		return -1
	}
	return j.nearest
}

// heldAt reports whether g was surely held at an instant: by the order of events where
// they are of one process.
func (j *judge) heldAt(g *grant, at instant) bool {
	if !j.surely(g.to, at) || slices.ContainsFunc(g.endings, func(e ending) bool { return !j.surely(at, e.may) }) {
		return false
	}
	eps := j.history.Header.Epsilon
	if g.process() == at.process && !slices.ContainsFunc(g.longer, func(x extension) bool { return x.to.process != at.process }) {
		eps = 0 // it stamped what set the deadline
	}
	return slices.ContainsFunc(g.held, func(s span) bool {
		return s.from <= at.time && min(s.to, max(g.low, s.from), g.known)-at.time > eps && !j.heldOnlyFrom(g, s, at)
	})
}

// heldOnlyFrom reports whether a span of g's begins with an extension that was answered
// at the time of an instant, and not surely before it.
func (j *judge) heldOnlyFrom(g *grant, s span, at instant) bool {
	return s.from == at.time && s.from != g.to.time && !slices.ContainsFunc(g.longer, func(x extension) bool {
		return x.to.time == s.from && j.surely(x.to, at)
	})
}

// atOnce reports whether one process's own order shows that two of its leases were held
// at once, of which h was granted later, whatever the stamps say.
func (j *judge) atOnce(g, h *grant) bool {
	lasts := slices.ContainsFunc(h.held, func(s span) bool { return s.from == h.to.time && min(s.to, h.low, h.known) > s.from })
	return alone(g, h) && g.to.index < h.to.index && lasts && j.heldAt(g, h.to)
}

// apart is how far apart the stamps of two hosts may be: those of one by its own bound,
// those of two by the sum, those without a host by the header's, and one of each by the
// widest.
func (j *judge) apart(a, b string) time.Duration {
	hosts := j.history.Header.Hosts
	x, named := hosts[a]
	y, too := hosts[b]
	switch {
	case !named && !too:
		return j.plain
	case !named || !too:
		return j.history.Header.Epsilon
	case a == b:
		return x.Epsilon
	}
	return x.Epsilon + y.Epsilon
}

// perhaps reports whether a may have come before b.
func (j *judge) perhaps(a, b instant) bool { return !j.surely(b, a) }
