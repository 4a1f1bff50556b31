package measure

import (
	"bytes"
	"context"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"locktorture/cmd/torture/internal/periodic"
)

// lockLabel marks the goroutines that a lock starts: a goroutine has the
// labels of the one that started it.
const lockLabel = "torture-lock"

// Labelled runs do: what it starts counts as the lock's.
func Labelled(ctx context.Context, do func(context.Context)) {
	pprof.Do(ctx, pprof.Labels(lockLabel, "1"), do)
}

// countEvery is how often goroutines are counted: each count stops the world.
const countEvery = 100 * time.Millisecond

// CountGoroutines counts the marked goroutines until the function that it returns is
// called, which says how many there were at most.
func CountGoroutines() func() int {
	most := 0
	stop := periodic.Start(countEvery, func() { most = max(most, marked()) })
	return func() int {
		stop()
		return most
	}
}

// marked reads the goroutine profile, whose stacks come as "4 @ 0x…" with the
// labels on the next line.
func marked() (n int) {
	var text bytes.Buffer
	if pprof.Lookup("goroutine").WriteTo(&text, 1) != nil {
		return 0
	}
	group := 0
	for line := range strings.Lines(text.String()) {
		if count, _, ok := strings.Cut(line, " @ "); ok {
			group, _ = strconv.Atoi(count)
		}
		if strings.HasPrefix(line, "# labels:") && strings.Contains(line, lockLabel) {
			n += group
		}
	}
	return n
}
