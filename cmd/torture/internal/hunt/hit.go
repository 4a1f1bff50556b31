package hunt

import (
	"context"
	"strings"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/periodic"
)

const (
	lookEvery = 50 * time.Millisecond // between two looks at the judge
	afterHit  = 4                     // looks before the round ends: a proof may come in several parts
)

// A hit ends a round soon after its judge has seen an anomaly. What is played only
// to see whether it comes again need not go on.
type hit struct {
	id     string
	cancel context.CancelFunc
	stop   func()
}

// endAtHit returns a context that ends with the hit, and the hit, which must be
// ended.
func (e *executor) endAtHit(ctx context.Context) (context.Context, *hit) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, &hit{id: e.until, cancel: cancel, stop: func() {}}
}

// watch looks at the round's judge from time to time.
func (h *hit) watch(j *checker.Judge) {
	if h.id == "" {
		return
	}
	seen := 0
	h.stop = periodic.Start(lookEvery, func() {
		if live := j.Live(); strings.HasPrefix(live.FirstHit, h.id+" ") || h.id == "S1" && live.DoubleGrants > 0 {
			seen++
		}
		if seen > afterHit {
			h.cancel()
		}
	})
}

func (h *hit) end() {
	h.stop()
	h.cancel()
}
