package terminal

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"locktorture/workload/history/printable"
)

// A Board shows how something that is no single run goes on: a few lines that are
// redrawn, or for a log one line every ten seconds and one for each thing that is
// said.
type Board struct {
	w     io.Writer
	o     Options
	lines func() []string // on a terminal
	log   func() string   // in a log, every ten seconds

	mu    sync.Mutex
	drawn int // lines on the screen that the next frame replaces
}

// NewBoard prepares a board; lines and log are called from one goroutine.
func NewBoard(w io.Writer, o Options, lines func() []string, log func() string) *Board {
	return &Board{w: w, o: o, lines: lines, log: log}
}

// Println writes one line: to a log at its end, on a terminal above the board.
func (b *Board) Println(line string) {
	if b.o.Quiet {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	fmt.Fprintln(b.w, printable.Line(line))
}

// Run shows the board until ctx ends. It leaves the screen clear of its lines.
func (b *Board) Run(ctx context.Context) {
	if b.o.Quiet {
		return
	}
	every := logEvery
	if b.o.Live {
		every = redraw
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			b.mu.Lock()
			b.clear()
			b.mu.Unlock()
			return
		case <-tick.C:
		}
		if b.o.Live {
			b.draw()
			continue
		}
		b.Println(b.log())
	}
}

// draw replaces the lines on the screen in one write, so that nothing flickers.
func (b *Board) draw() {
	var out strings.Builder
	lines := b.lines()
	for _, line := range lines {
		out.WriteString("\r\x1b[2K" + b.o.fit(printable.Line(line)) + "\n")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	b.drawn = len(lines)
	_, _ = io.WriteString(b.w, out.String()) // a display that cannot be written must not end anything
}

// clear removes the board's lines from the screen. The caller holds mu.
func (b *Board) clear() {
	if b.drawn > 0 {
		fmt.Fprintf(b.w, "\x1b[%dA\x1b[J", b.drawn)
		b.drawn = 0
	}
}
