package hunt

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/run"
	"locktorture/cmd/torture/internal/search"
	"locktorture/faults"
	"locktorture/faults/link"
	"locktorture/reports"
	"locktorture/workload/history"
	"locktorture/workload/history/coverage"
	"locktorture/workload/history/fold"
	"locktorture/workload/history/historyfile"
)

// A Player plays one run.
type Player func(ctx context.Context, c config.Config, o run.Options) (*reports.Run, error)

// An executor plays rounds on real Redis. Each round has servers of its own: a fault of nodes
// would affect every round on them, so that findings and coverage could not be attributed; and
// to inject faults of nodes only into separate rounds would never combine them with others.
type executor struct {
	lock catalogue.Lock
	base config.Config
	play Player
	farm *farmPlayer                 // has workers of a farm play; nil: this machine does
	keep func([]search.Finding) bool // whether a round's record stays
	pace *link.Pace                  // of messages on this machine's links; nil: the network's own

	stalled func()                 // the machine was too busy for a round
	until   func(id string) bool   // whether an anomaly ends a round as soon as it is seen; nil: none does
	counts  func([]coverage.Count) // which cells count for the lock under a round's load and faults
}

// Fits implements search.Executor.
func (e *executor) Fits(r search.Round) error { return run.Validate(r.Over(e.base), e.lock) }

// Play implements search.Executor.
func (e *executor) Play(ctx context.Context, r search.Round) search.Outcome {
	if e.farm != nil {
		return e.playAfar(ctx, r, e.farm.next())
	}
	return e.playConfig(ctx, r.Over(e.base), r.Steps)
}

// playConfig plays a scenario; steps are those of which the outcome says whether their moments
// came.
func (e *executor) playConfig(ctx context.Context, c config.Config, steps []faults.Spec) search.Outcome {
	if e.farm != nil {
		return e.farm.play(ctx, e, scenario{Config: c, Steps: steps}, e.farm.next())
	}
	began := time.Now()
	ctx, stop := e.stopEarly(ctx)
	defer stop.close()
	var table *coverage.Table
	var can coverage.Abilities
	seen, started, idle, stalls := &opCounter{}, search.Started{}, search.Idle{}, &search.Stalls{}
	var near *search.Nearness
	var found []search.Finding
	var unread error
	kept := false
	result, err := e.play(ctx, c, run.Options{
		Pace: e.pace,
		Begin: func(b run.Beginning) []history.Sink {
			stop.watch(b.Judge)
			table, near = coverage.New(b.Header), search.NewNearness(b.Header)
			if b.Meta.Can != nil {
				can = *b.Meta.Can
			}
			return []history.Sink{table, seen, started, idle, stalls, near}
		},
		Keep: func(done *reports.Run) bool {
			if found, unread = findings(done); unread != nil || !done.Counts() {
				return false
			}
			kept = e.keep(found)
			return kept
		},
	})
	o := search.Outcome{Took: time.Since(began), Operations: seen.operations, Void: void(ctx, result, errors.Join(err, unread))}
	if o.Void != "" {
		if result != nil && lagged(result) != "" || result == nil && errors.Is(err, context.DeadlineExceeded) {
			e.stalled()
		}
		return o
	}
	o.Findings, o.Fired, o.Idle, o.Stalled = found, started.Moments(steps), idle, stalls.Longest
	for _, f := range result.Report.Suspicious {
		o.Suspected = append(o.Suspected, search.Finding{ID: f.ID, Name: f.Name, Blame: f.Blame, Text: f.Text})
	}
	if kept {
		o.Run = result.Dir
	}
	counts := table.Of(can)
	o.Cover(table, counts)
	o.Near = near.Misses(table.NearMisses().Longest)
	e.counts(counts)
	return o
}

func ignoreCells([]coverage.Count) {}

// calledOff is why a round that was ended from outside has no result.
const calledOff = "called off"

// void says why a round has no result, or "".
func void(ctx context.Context, r *reports.Run, err error) string {
	switch {
	case r == nil && err != nil:
		return history.OneLine(err.Error())
	case r == nil:
		return "no run"
	case !r.Counts():
		return r.Troubles()[0]
	case err != nil:
		return history.OneLine(err.Error())
	case len(r.Report.Violations) > 0:
		return "" // proved is proved
	case r.Hung:
		return r.Troubles()[0]
	case r.Interrupted || ctx.Err() != nil:
		return calledOff
	}
	return lagged(r)
}

// lagged says why r's judge could not judge by time, or "".
func lagged(r *reports.Run) string {
	i := slices.IndexFunc(r.Report.Inconclusive, func(f checker.Finding) bool { return slices.Contains([]string{"V4", "V5", "V7"}, f.ID) })
	if i < 0 {
		return ""
	}
	return r.Report.Inconclusive[i].ID + " " + r.Report.Inconclusive[i].Text
}

// An opCounter counts the operations that clients begin.
type opCounter struct{ operations int }

// Event implements history.Sink.
func (c *opCounter) Event(e *history.Event) {
	if e.Process >= 0 && e.Kind == history.Invoke {
		c.operations++
	}
}

// findings are what a run proves: of each kind of finding the first, with the phase and the
// fault in which its proof ends.
func findings(r *reports.Run) ([]search.Finding, error) {
	violations := r.Report.Violations
	if len(violations) == 0 {
		return nil, nil
	}
	at, err := places(r.Dir, violations)
	if err != nil {
		return nil, err
	}
	var all []search.Finding
	for i, v := range violations {
		f := search.Finding{
			ID: v.ID, Name: v.Name, Blame: v.Blame, Text: v.Text, Phase: at[i].phase, Fault: at[i].fault, At: at[i].time, Operations: at[i].operations,
		}
		if !slices.ContainsFunc(all, func(g search.Finding) bool { return f.Key() == g.Key() }) {
			all = append(all, f)
		}
	}
	return all, nil
}

// A place is where a proof ends.
type place struct {
	phase, fault string
	time         time.Duration
	operations   int // begun by clients until then
}

// places reads the history in a run directory once, for where each proof ends.
func places(dir string, of []checker.Finding) ([]place, error) {
	all := make([]place, len(of))
	source, closer, err := historyfile.Open(filepath.Join(dir, historyfile.Name), nil)
	if err != nil {
		return nil, err
	}
	last := map[int][]int{} // findings, by the index of their proof's last event
	for i, f := range of {
		if n := len(f.Witness); n > 0 {
			last[f.Witness[n-1]] = append(last[f.Witness[n-1]], i)
		}
	}
	var log fold.FaultLog
	header := source.Header()
	begun := 0
	for e := (history.Event{}); source.Next(&e) == nil; {
		if log.Event(&e); e.Process >= 0 && e.Kind == history.Invoke {
			begun++
		}
		for _, i := range last[e.Index] {
			all[i] = place{phase: phaseOf(e), fault: faultAt(&log, e.Time, header), time: e.Time, operations: begun}
		}
	}
	return all, closer.Close()
}

// faultAt is the class of the fault that was the last to begin among those in force
// at a time or over for no longer than a lease, of which it is often the end that
// shows a flaw.
func faultAt(log *fold.FaultLog, at time.Duration, h history.Header) string {
	for _, f := range slices.Backward(log.All()) {
		if f.Started == fold.Never || f.End() != fold.Never && f.End()+h.TTL < at {
			continue
		}
		if class, ok := coverage.ClassOf(f.Name, f.Target, h); ok {
			return class.String()
		}
		return f.Name
	}
	return ""
}

// phaseOf is the phase of the lock's life in which an event falls.
func phaseOf(e history.Event) string {
	begins, ends := coverage.InSection, coverage.InSection
	switch e.Op {
	case history.Acquire:
		begins, ends = coverage.AcquireSent, coverage.AcquireReplied
	case history.Extend:
		begins, ends = coverage.RenewalSent, coverage.RenewalReplied
	case history.Release:
		begins, ends = coverage.ReleaseSent, coverage.ReleaseReplied
	case history.Lost:
		begins, ends = coverage.Expiry, coverage.Expiry
	case history.Write, history.Read:
	default:
		return ""
	}
	if e.Kind == history.Invoke {
		return begins.String()
	}
	return ends.String()
}
