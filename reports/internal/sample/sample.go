// Package sample draws histories for tests: a run that keeps its word and one
// that breaks it, both with faults that show.
package sample

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"locktorture/workload/history"
)

const (
	ttl   = 2 * time.Second
	drift = 22 * time.Millisecond
	hold  = 8 * time.Millisecond
	keys  = 8
)

// A Shape says what to draw.
type Shape struct {
	Clients  int
	Duration time.Duration
	Break    bool // plant a double grant on k3, a stale write with it
	Faults   bool
}

// Passing is a minute with four faults and nothing wrong.
var Passing = Shape{Clients: 16, Duration: time.Minute, Faults: true}

// Failing is the same minute with two holders of k3 at 40 s.
var Failing = Shape{Clients: 16, Duration: time.Minute, Faults: true, Break: true}

type world struct {
	Shape
	rng     *rand.Rand
	events  []history.Event
	free    map[string]time.Duration // until when a key is taken
	fences  map[string]uint64
	process int
	seq     uint64
}

// drawn are the histories so far, by Shape: to draw one takes longer than most of what
// tests do with it.
var drawn sync.Map

// History draws a history of that shape, whose events are the caller's.
func History(s Shape) history.History {
	once, _ := drawn.LoadOrStore(s, sync.OnceValue(func() history.History { return draw(s) }))
	h := once.(func() history.History)()
	h.Events = slices.Clone(h.Events)
	return h
}

func draw(s Shape) history.History {
	w := &world{Shape: s, rng: rand.New(rand.NewPCG(7, 11)), free: map[string]time.Duration{}, fences: map[string]uint64{}}
	w.nemesis()
	w.planted()
	w.contend()
	slices.SortStableFunc(w.events, func(a, b history.Event) int { return cmp.Compare(a.Time, b.Time) })
	w.add(history.Event{Time: s.Duration, Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: history.PhaseEnd})
	for i := range w.events {
		w.events[i].Index = i
	}
	return history.History{Header: w.header(), Events: w.events}
}

func (w *world) header() history.Header {
	return history.Header{
		Type: "history", Version: history.Version, Scenario: "standard", Lock: "redlock", Seed: 0x9f3c21,
		Nodes: 5, Quorum: 3, TTL: ttl, Drift: drift, Fenced: true,
		Began: time.Date(2026, 11, 21, 14, 25, 1, 0, time.UTC),
	}
}

func (w *world) add(e history.Event) { w.events = append(w.events, e) }

// weather is what an acquire meets at time t: its usual latency, and how
// likely it ends in an error or in an unknown outcome.
func (w *world) weather(t time.Duration) (usual time.Duration, refuse, unknown float64) {
	s := t.Seconds()
	switch {
	case !w.Faults:
	case s >= 20 && s < 28:
		return 900 * time.Millisecond, 0.2, 0.08
	case s >= 36 && s < 40.8:
		return 2 * time.Millisecond, 0.9, 0.1
	case s >= 48 && s < 54:
		return 200 * time.Millisecond, 0, 0.01
	}
	return 2 * time.Millisecond, 0, 0
}

// contend lets the client that is due first make one attempt, over and over.
func (w *world) contend() {
	all := make([]*contender, w.Clients)
	for i := range all {
		all[i] = &contender{name: fmt.Sprintf("c%02d", i), process: w.next(), due: w.wait(25)}
	}
	for len(all) > 0 {
		first := slices.MinFunc(all, func(a, b *contender) int { return cmp.Compare(a.due, b.due) })
		if first.due >= w.Duration-time.Second {
			return
		}
		w.attempt(first)
		first.due += w.wait(25)
	}
}

type contender struct {
	name    string
	process int
	due     time.Duration
}

// attempt is one acquire, and the critical section when it is granted.
func (w *world) attempt(c *contender) {
	key := fmt.Sprintf("k%d", w.rng.IntN(keys))
	usual, refuse, unknown := w.weather(c.due)
	start := c.due + w.scale(300*time.Microsecond, 0.5)
	e := history.Event{Time: start, Process: c.process, Kind: history.Invoke, Op: history.Acquire, Key: key, Owner: c.name, Intended: c.due, Has: history.HasIntended}
	w.add(e)
	e.Has = 0
	e.Time += w.scale(usual, 0.4)
	c.due = e.Time
	switch r := w.rng.Float64(); {
	case r < unknown:
		e.Kind, e.Err = history.Info, "acquire k: i/o timeout"
		w.add(e)
		c.process = w.next()
	case r < unknown+refuse:
		e.Kind, e.Err = history.Fail, "connection refused"
		w.add(e)
	case w.free[key] > start:
		e.Kind, e.Err = history.Fail, "lock held by another owner"
		w.add(e)
	default:
		c.due = w.section(e, start)
	}
}

// section is a critical section after a grant: two writes, then the release.
func (w *world) section(e history.Event, start time.Duration) time.Duration {
	w.fences[e.Key]++
	e.Kind, e.Fence = history.OK, 100*w.fences[e.Key]
	e.ValidUntil, e.Has = start+ttl-drift, history.HasValidUntil
	w.add(e)
	t := e.Time
	for i := range 2 {
		t = w.write(e, t+w.scale(hold/2, 0.3), fmt.Sprintf("%s-%d-%d", e.Owner, e.Fence, i))
	}
	r := history.Event{Time: t + time.Millisecond, Process: e.Process, Kind: history.Invoke, Op: history.Release, Key: e.Key, Owner: e.Owner}
	w.add(r)
	r.Time += w.scale(time.Millisecond, 0.2)
	r.Kind = history.OK
	w.add(r)
	w.free[e.Key] = r.Time + w.scale(3*time.Millisecond, 0.5)
	return r.Time
}

func (w *world) write(grant history.Event, t time.Duration, value string) time.Duration {
	e := history.Event{Time: t, Process: grant.Process, Kind: history.Invoke, Op: history.Write, Key: grant.Key, Owner: grant.Owner, Fence: grant.Fence, Value: value}
	w.add(e)
	w.seq++
	e.Time += w.scale(400*time.Microsecond, 0.2)
	e.Kind, e.Seq, e.Has = history.OK, w.seq, history.HasSeq
	w.add(e)
	return e.Time
}

func (w *world) next() int { w.process++; return w.process - 1 }

// wait draws how long a client sits idle between two tries.
func (w *world) wait(mean float64) time.Duration {
	return time.Duration(w.rng.ExpFloat64() * mean * float64(time.Millisecond))
}

// scale draws around a usual duration, log-normally.
func (w *world) scale(usual time.Duration, sigma float64) time.Duration {
	return time.Duration(float64(usual) * math.Exp(w.rng.NormFloat64()*sigma))
}

func target(v any) *history.Target {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	t, err := history.ParseTarget(raw)
	if err != nil {
		panic(err)
	}
	return t
}
