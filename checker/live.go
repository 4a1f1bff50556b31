package checker

import (
	"fmt"
	"sync/atomic"
	"time"

	"locktorture/checker/anomaly"
	"locktorture/checker/internal/rule"
	"locktorture/checker/internal/words"
)

// Live is what a judge has found so far, for a status line.
type Live struct {
	Evidence
	DoubleGrants     int    // S1
	StaleAccepted    int    // S2, and writes after a lease that no fence stopped (S3z)
	TokenRegressions int    // S4, S4b
	Violations       int    // of any kind
	FirstHit         string // the first violation, in a few words; "" while there is none
}

// A live holds the counters of Live. One goroutine writes them, any may read.
type live struct {
	grants, contended, handovers, faulted, takeovers, saves, unknown, resolved, byReceipts atomic.Int64
	double, stale, tokens, violations                                                      atomic.Int64
	first                                                                                  atomic.Pointer[string]
}

// The counters are published every so many events, whenever so much time has
// passed in the history, and after events that came together.
const (
	publishEvents = 32
	publishAfter  = time.Millisecond
)

// publish copies the counters that have changed.
func (l *live) publish(e *Evidence) {
	set(&l.grants, e.Grants)
	set(&l.contended, e.Contended)
	set(&l.handovers, e.Handovers)
	set(&l.faulted, e.FaultedHandovers)
	set(&l.takeovers, e.Takeovers)
	set(&l.saves, e.FenceSaves)
	set(&l.unknown, e.Unknown)
	set(&l.resolved, e.Resolved)
	set(&l.byReceipts, e.ByReceipts)
}

// set stores n where it differs: reading is far cheaper than writing.
func set(a *atomic.Int64, n int) {
	if a.Load() != int64(n) {
		a.Store(int64(n))
	}
}

func (l *live) violation(h *rule.Candidate) {
	l.count(h.ID, 1)
	if l.first.Load() == nil {
		s := fmt.Sprintf("%s %s on %s at %s (events %v)", h.ID, anomaly.Name(h.ID), h.Key.Name, words.At(h.To), h.Witness)
		l.first.Store(&s)
	}
}

func (l *live) count(id string, n int64) {
	l.violations.Add(n)
	switch id {
	case "S1":
		l.double.Add(n)
	case "S2", "S3z":
		l.stale.Add(n)
	case "S4", "S4b":
		l.tokens.Add(n)
	}
}

// Live returns what has been seen so far. It may be called at any time, from
// any goroutine.
func (j *Judge) Live() Live {
	l := &j.live
	out := Live{
		Evidence: Evidence{
			Grants: int(l.grants.Load()), Contended: int(l.contended.Load()), Handovers: int(l.handovers.Load()),
			FaultedHandovers: int(l.faulted.Load()), Takeovers: int(l.takeovers.Load()), FenceSaves: int(l.saves.Load()),
			Unknown: int(l.unknown.Load()), Resolved: int(l.resolved.Load()),
			ByReceipts: int(l.byReceipts.Load()),
		},
		DoubleGrants: int(l.double.Load()), StaleAccepted: int(l.stale.Load()), TokenRegressions: int(l.tokens.Load()),
		Violations: int(l.violations.Load()),
	}
	if s := l.first.Load(); s != nil {
		out.FirstHit = *s
	}
	return out
}
