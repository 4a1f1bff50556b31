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

// A hit ends a round soon after its judge has seen an anomaly that is looked for.
// What is played only to see whether it comes need not go on.
type hit struct {
	wanted func(id string) bool // nil: none
	cancel context.CancelFunc
	stop   func()
}

// endAtHit returns a context that ends with the hit, and the hit, which must be
// ended.
func (e *executor) endAtHit(ctx context.Context) (context.Context, *hit) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, &hit{wanted: e.until, cancel: cancel, stop: func() {}}
}

// watch looks at the round's judge from time to time.
func (h *hit) watch(j *checker.Judge) {
	if h.wanted == nil {
		return
	}
	seen := 0
	h.stop = periodic.Start(lookEvery, func() {
		if h.shows(j.Live()) {
			seen++
		}
		if seen > afterHit {
			h.cancel()
		}
	})
}

// shows reports whether what the judge has seen so far is looked for. Of S3 there are
// two kinds, which look alike until the end.
func (h *hit) shows(live checker.Live) bool {
	first, _, _ := strings.Cut(live.FirstHit, " ")
	return first != "" && first != "S3" && h.wanted(first) ||
		live.DoubleGrants > 0 && h.wanted("S1") || live.TokenRegressions > 0 && h.wanted("S4") && h.wanted("S4b")
}

func (h *hit) end() {
	h.stop()
	h.cancel()
}
