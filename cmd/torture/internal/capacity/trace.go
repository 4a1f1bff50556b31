package capacity

import (
	"context"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/measure"
	"locktorture/reports/capacity"
	"locktorture/workload/load"
)

// How the paces are chosen at which a trace of arrivals is played: as recorded, and
// from there on by this factor until the objectives are missed, or met.
const (
	paceStep  = 1.5
	mostPace  = 32
	leastPace = 1.0 / 32
)

// arrivals describes the trace that is offered; nil without one.
func (s *survey) arrivals() *capacity.Arrivals {
	t := s.Trace
	if len(t) == 0 {
		return nil
	}
	return &capacity.Arrivals{
		File: s.TraceFile, Count: len(t), Span: t.Span(), Rate: t.Rate(), Peak: t.Peak(time.Second), Keys: len(t.Keys()), Hottest: t.Hottest(),
	}
}

// trace is the trace with keys of the measurement, and a window in which it fits at a
// pace, with what the last requests take.
func (s *survey) trace(c *measure.Clients, pace float64) (load.Trace, load.Window) {
	t := slices.Clone(s.Trace)
	for i := range t {
		if t[i].Key != "" {
			t[i].Key = c.Prefix + "-" + t[i].Key
		}
	}
	rest := max(2*s.Hold+2*s.bound, 100*time.Millisecond)
	return t, load.Window{Measure: time.Duration(float64(t.Span())/pace) + rest}
}

// follow offers the trace at the paces between which the objectives begin to be missed:
// it looks for them in one repeat, and plays them in all, with the recorded one.
func (s *survey) follow(ctx context.Context) error {
	recorded := s.Trace.Rate()
	at := func(pace float64) float64 { return recorded * pace }
	if err := s.offerTimes(ctx, "trace", []float64{at(1)}, 1); err != nil {
		return err
	}
	met := s.lastMet()
	paces := []float64{1}
	for pace := 1.0; ; {
		if pace *= paceStep; !met {
			pace /= paceStep * paceStep
		}
		if pace > mostPace || pace < leastPace || at(pace) > s.MaxRate || ctx.Err() != nil || s.late(lateRetries) {
			break
		}
		if err := s.offerTimes(ctx, "trace", []float64{at(pace)}, 1); err != nil {
			return err
		}
		if paces = append(paces, pace); s.lastMet() != met {
			break
		}
	}
	rates := []float64{at(1)}
	for _, p := range paces[max(len(paces)-2, 0):] {
		if p != 1 {
			rates = append(rates, at(p))
		}
	}
	return s.offer(ctx, "trace", rates)
}

// lastMet reports whether the last point met the objectives. One that says nothing of
// the lock counts as missed.
func (s *survey) lastMet() bool {
	p := s.r.Points[len(s.r.Points)-1]
	return p.Valid && p.OK
}
