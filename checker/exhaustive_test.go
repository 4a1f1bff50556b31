package checker

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"locktorture/checker/internal/reference"
	"locktorture/workload/history"
)

var exhaustive = flag.Int("ops", 5, "operations of the longest histories that are all tried (6: 416,000 histories, 30 s of processor time)")

// TestAllSmallHistories compares the judge, the definitions and Porcupine on
// every history of up to maxOps operations of two owners on one key: every
// interleaving of invocations and completions, one nanosecond apart, under a
// lease that runs out within. Refused acquires are left out: they leave nothing
// behind that a rule here looks at.
func TestAllSmallHistories(t *testing.T) {
	maxOps := *exhaustive
	if testing.Short() {
		maxOps = min(maxOps, 4)
	}
	count := walkAll(newBuilder(5, 0), maxOps, func(h history.History) {
		if err := compare(h); err != nil {
			t.Fatalf("%v\n%s", err, sentences(h))
		}
	})
	t.Logf("%d histories of up to %d operations", count, maxOps)
}

// TestAllSmallSections holds the judge against the reference judge on every
// history of up to maxOps operations of two owners that acquire, acquire once
// more, write and release one key, by right or not; each with and without a
// fence, under a lease that runs out within.
func TestAllSmallSections(t *testing.T) {
	maxOps := *exhaustive
	if testing.Short() {
		maxOps = min(maxOps, 4)
	}
	b := newBuilder(5, 0)
	b.sections = true
	count := walkAll(b, maxOps, func(h history.History) {
		for _, fenced := range []bool{false, true} {
			h.Header.Fenced = fenced
			r := Check(t.Context(), h, Options{Limit: 1000})
			if wrong := reference.Compare(reference.Judge(h), referenceReport(r)); len(wrong) > 0 {
				t.Fatalf("%s\n%s", strings.Join(wrong, "; "), reference.Text(h))
			}
		}
	})
	t.Logf("%d histories of up to %d operations", count, maxOps)
}

// walkAll calls each with every history that the builder's choices make, and
// returns how many there are.
func walkAll(b *builder, maxOps int, each func(history.History)) int {
	count := 0
	var walk func(b *builder, first bool)
	walk = func(b *builder, first bool) {
		if b.workers[0].open == 0 && b.workers[1].open == 0 && b.ops > 0 {
			count++
			each(b.history())
		}
		for i := range 2 {
			for _, c := range b.small(i, maxOps) {
				if first && i == 1 {
					continue // the mirror image of a history that begins with the other owner
				}
				next := *b
				next.h.Events = slices.Clip(slices.Clone(b.h.Events))
				next.now += time.Nanosecond
				next.apply(i, c)
				walk(&next, false)
			}
		}
	}
	walk(b, true)
	return count
}

// small is what a worker can do next, without what leaves no trace.
func (b *builder) small(i, maxOps int) []choice {
	w := &b.workers[i]
	var out []choice
	for _, c := range b.choices(i) {
		c.fence = uint64(b.ops)
		switch {
		case w.open == 0 && b.ops == maxOps:
		case w.open == history.Acquire && c.kind == history.Fail:
		case w.open == history.Extend && c.kind == history.Info, w.open == history.Release && c.kind == history.Fail:
		case !slices.Contains(out, c):
			out = append(out, c)
			if w.open == history.Extend && c.kind == history.Fail && b.now > w.inv {
				c.early = b.now // as early as can be: when it was invoked
				out = append(out, c)
			}
		}
	}
	return out
}
