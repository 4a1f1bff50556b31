package hunt

import (
	"context"
	"strings"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/periodic"
)

const (
	lookEvery    = 50 * time.Millisecond // between two looks at the judge
	afterFinding = 4                     // looks before the round ends: a proof may come in several parts
)

// An earlyStop ends a round soon after its judge has found an anomaly that is looked for:
// a round that is played only to see whether that occurs need not go on.
type earlyStop struct {
	wanted func(id string) bool // nil: none
	cancel context.CancelFunc
	stop   func()
}

// stopEarly returns a context that ends once an anomaly that e looks for is found, and what
// ends it, which must be closed.
func (e *executor) stopEarly(ctx context.Context) (context.Context, *earlyStop) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, &earlyStop{wanted: e.until, cancel: cancel, stop: func() {}}
}

// watch looks at the round's judge every lookEvery.
func (s *earlyStop) watch(j *checker.Judge) {
	if s.wanted == nil {
		return
	}
	seen := 0
	s.stop = periodic.Start(lookEvery, func() {
		if s.satisfiedBy(j.Live()) {
			seen++
		}
		if seen > afterFinding {
			s.cancel()
		}
	})
}

// satisfiedBy reports whether the judge has found an anomaly so far that is looked for. Of
// S3 there are two kinds, which cannot be told apart before the history's end.
func (s *earlyStop) satisfiedBy(live checker.Live) bool {
	first, _, _ := strings.Cut(live.FirstHit, " ")
	return first != "" && first != "S3" && s.wanted(first) ||
		live.DoubleGrants > 0 && s.wanted("S1") || live.TokenRegressions > 0 && s.wanted("S4") && s.wanted("S4b")
}

func (s *earlyStop) close() {
	s.stop()
	s.cancel()
}
