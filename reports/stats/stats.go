package stats

import (
	"sync"
	"time"

	"locktorture/workload/history"
	"locktorture/workload/history/coverage"
	"locktorture/workload/history/fold"
)

// Stats is a history.Sink that measures what passes. Its methods may be called
// from several goroutines.
type Stats struct {
	mu     sync.Mutex
	header history.Header

	now      time.Duration // time of the last event
	events   int
	phase    string
	outside  bool          // before or after the main phase, where its figures are not taken
	mainFrom time.Duration // begin of the main phase
	mainTo   time.Duration // its end; Never while it goes on
	complete bool          // the end event was seen

	hists    histograms
	windows  windows
	outcomes Outcomes // of the main phase
	total    Outcomes // of the whole run
	errors   errorCounts
	grants   map[string]int64 // of the whole run, by the host whose clock stamped them
	faults   faultLog
	clients  clients
	holds    holds
	gaps     gaps
	load     load
	tally    coverage.Tally
}

// New returns a Stats for the history that h opens.
func New(h history.Header) *Stats {
	return &Stats{
		header:  h,
		mainTo:  Never,
		windows: windows{width: firstWidth},
		faults:  newFaultLog(h.TTL),
		grants:  map[string]int64{},
		errors:  errorCounts{},
		clients: clients{byName: map[string]*client{}},
		holds:   holds{who: fold.NewHoldings(h), ends: map[string]holdEnd{}},
	}
}

// Event implements history.Sink.
func (s *Stats) Event(e *history.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events++
	s.now = max(s.now, e.Time)
	switch e.Op {
	case history.Fault, history.Heal:
		s.faults.event(e)
	case history.Phase:
		s.enter(e)
	case history.Acquire, history.Extend, history.Release, history.Write, history.Read, history.Lost:
		s.operation(e)
	}
}

// enter notes a phase event: a phase has one at its begin, and may have one at
// its end. The figures are those of the main phase; a history without phases
// is all main. Warm-up and the healthy final phase have loads of their own.
func (s *Stats) enter(e *history.Event) {
	s.load.note(e)
	if e.Kind == history.Invoke || e.Value == "" {
		return
	}
	if e.Value == s.phase || s.phase == history.PhaseMain {
		s.leaveMain(e.Time)
	}
	switch {
	case e.Value == s.phase:
	case e.Value == history.PhaseMain:
		s.outside, s.mainFrom, s.gaps.last = false, e.Time, e.Time
	case e.Value == history.PhaseEnd:
		s.leaveMain(e.Time)
		s.complete = true
	default:
		s.outside = true
	}
	s.phase = e.Value
}

func (s *Stats) leaveMain(t time.Duration) {
	if !s.outside {
		s.mainTo, s.outside = t, true
	}
}

func (s *Stats) operation(e *history.Event) {
	if e.HasAll(history.HasLag) {
		s.load.lagged(e.Lag)
	}
	s.tally.Event(e)
	op := s.holds.event(e)
	if e.Kind == history.Invoke {
		return
	}
	s.latency(e, op)
	s.errors.event(e)
	if e.Op == history.Acquire {
		s.acquired(e, op)
		if e.Kind == history.OK && e.Host != "" {
			s.grants[e.Host]++
		}
	}
}

// latency files how long a completed operation took. Only operations that took
// effect count: a refusal or a timeout is an outcome, with a series of its own.
func (s *Stats) latency(e *history.Event, op fold.Operation) {
	if s.outside {
		return
	}
	end := e.Time
	if e.HasAll(history.HasEnded) {
		end = max(end, e.Ended)
	}
	p := s.faults.phase(op.Intended)
	service := end - op.Began
	switch {
	case e.Op == history.Acquire && e.Kind == history.Fail:
		s.hists.record(Refused, p, service)
	case e.Op == history.Acquire && e.Kind == history.Info:
		s.hists.record(Unknown, p, service)
	case e.Kind != history.OK:
	case e.Op == history.Acquire:
		s.hists.record(Acquire, p, end-op.Intended)
		s.hists.record(AcquireService, p, service)
	default:
		if name, ok := serviceSeries[e.Op]; ok {
			s.hists.record(name, p, service)
		}
	}
}

var serviceSeries = map[history.Op]Series{
	history.Release: Release, history.Extend: Extend, history.Write: Write,
}

// acquired files the outcome of an acquire attempt.
func (s *Stats) acquired(e *history.Event, op fold.Operation) {
	s.windows.attempt(e, e.Time-op.Intended)
	s.total.add(e)
	if e.Kind == history.OK {
		s.faults.granted(e.Time)
	}
	if s.outside {
		return
	}
	s.outcomes.add(e)
	s.clients.attempt(e, op)
	if e.Kind == history.OK {
		s.gaps.grant(e.Time)
	}
}
