package terminal

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"locktorture/reports/stats"
	"locktorture/workload/history"
)

const (
	redraw   = 250 * time.Millisecond
	logEvery = 10 * time.Second
)

// A Live display shows how a run goes: four lines that are redrawn, or for a
// log a line every ten seconds and one for each fault.
type Live struct {
	w    io.Writer
	o    Options
	plan Plan
	snap func() stats.Snapshot

	mu    sync.Mutex
	lines []string       // of faults, not yet written
	notes map[int]string // of those that are about to begin, by the index of their invocations

	began time.Time
	past  []reading     // of about the last second
	drawn int           // lines on the screen that the next frame replaces
	over  time.Duration // when the history ended and judging began; 0 before
}

// Plan is what was going to happen.
type Plan struct {
	Duration time.Duration
	Faults   int
}

// A reading remembers the counts at a moment, for rates.
type reading struct {
	at  time.Duration
	sum stats.Outcomes
}

// NewLive prepares a display that reads off snap.
func NewLive(w io.Writer, o Options, plan Plan, snap func() stats.Snapshot) *Live {
	return &Live{w: w, o: o, plan: plan, snap: snap, notes: map[int]string{}}
}

// Event implements history.Sink: a log gets a line per fault and heal.
func (l *Live) Event(e *history.Event) {
	if l.o.Quiet || l.o.Live || e.Op != history.Fault && e.Op != history.Heal {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Kind == history.Invoke {
		l.notes[e.Index] = e.Note
		return
	}
	l.lines = append(l.lines, faultLine(e, l.notes[e.Of]))
	delete(l.notes, e.Of)
}

// Run shows the run until ctx ends. It leaves the screen clear of its lines.
func (l *Live) Run(ctx context.Context) {
	if l.o.Quiet {
		return
	}
	l.began = time.Now()
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for next := logEvery; ; {
		select {
		case <-ctx.Done():
			l.flush()
			l.clear()
			return
		case <-tick.C:
		}
		elapsed := time.Since(l.began)
		if l.over == 0 && l.snap().Phase == history.PhaseEnd {
			l.over, next = elapsed, elapsed
		}
		if l.o.Live {
			l.draw(elapsed)
			continue
		}
		l.flush()
		if elapsed >= next {
			fmt.Fprintln(l.w, l.logLine(elapsed))
			next += logEvery
		}
	}
}

// logLine says how the run goes, or for how long it has been judged.
func (l *Live) logLine(elapsed time.Duration) string {
	s := l.snap()
	if l.over > 0 {
		return fmt.Sprintf("t=+%ds judging acquired=%d for=%ds", int(elapsed.Seconds()), s.Outcomes.Acquired, int((elapsed - l.over).Seconds()))
	}
	return logLine(elapsed, s)
}

// flush writes the lines of the faults since the last time.
func (l *Live) flush() {
	l.mu.Lock()
	lines := l.lines
	l.lines = nil
	l.mu.Unlock()
	for _, line := range lines {
		fmt.Fprintln(l.w, line)
	}
}

// draw replaces the lines on the screen in one write, so that nothing
// flickers.
func (l *Live) draw(elapsed time.Duration) {
	s := l.snap()
	l.past = append(l.past, reading{elapsed, s.Outcomes})
	for len(l.past) > 2 && l.past[1].at <= elapsed-time.Second {
		l.past = l.past[1:]
	}
	var out strings.Builder
	if l.drawn > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", l.drawn)
	}
	lines := l.frame(elapsed, s)
	for _, line := range lines {
		out.WriteString("\r\x1b[2K" + line + "\n")
	}
	l.drawn = len(lines)
	_, _ = io.WriteString(l.w, out.String()) // a display that cannot be written must not end the run
}

// clear removes the lines from the screen.
func (l *Live) clear() {
	if l.drawn > 0 {
		fmt.Fprintf(l.w, "\x1b[%dA\x1b[J", l.drawn)
		l.drawn = 0
	}
}
