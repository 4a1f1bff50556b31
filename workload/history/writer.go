package history

import (
	"fmt"
	"io"
	"sync"
)

// flushAt is how many bytes a Writer gathers before it writes.
const flushAt = 64 << 10

// A Writer is a Sink that writes a history, header first, as JSON lines.
// It gathers lines; Flush hands over the rest. The first error sticks: Err and
// Flush return it, and nothing is written after it, because a history with a
// hole in it could not be judged.
type Writer struct {
	w io.Writer

	mu  sync.Mutex
	buf []byte
	err error
}

// NewWriter writes the header through to w at once.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	buf, err := AppendHeader(make([]byte, 0, flushAt+4096), h)
	if err != nil {
		return nil, fmt.Errorf("write history header: %w", err)
	}
	wr := &Writer{w: w, buf: buf}
	return wr, wr.Flush()
}

// Event implements Sink.
func (w *Writer) Event(e *Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	before := len(w.buf)
	w.buf = AppendEvent(w.buf, e)
	if n := len(w.buf) - before; n > MaxLine {
		w.buf = w.buf[:before]
		w.err = fmt.Errorf("write history: event %d takes %d bytes, a line holds %d", e.Index, n, MaxLine)
		return
	}
	if len(w.buf) >= flushAt {
		w.flush()
	}
}

// Flush writes what is gathered. It returns the first error since NewWriter.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	return w.err
}

// Err returns the first error since NewWriter.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *Writer) flush() {
	if len(w.buf) == 0 {
		return
	}
	if _, err := w.w.Write(w.buf); err != nil && w.err == nil {
		w.err = fmt.Errorf("write history: %w", err)
	}
	w.buf = w.buf[:0]
}
