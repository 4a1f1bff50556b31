// Package stdio is how the command reads and writes its standard streams: readers
// that never come, and readers that have left.
package stdio

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// IgnoreSIGPIPE lets a write to a pipe that nobody reads fail, as it does for any
// other file, instead of ending the process. Commands started later do not
// inherit that.
func IgnoreSIGPIPE() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// Writer returns f, or a writer for it when f is a pipe, whose reader may leave
// before the end (as in torture run | head).
func Writer(f *os.File) io.Writer {
	if info, err := f.Stat(); err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return f
	}
	return &outlet{w: f}
}

// An outlet takes what is written to it without an error when its reader has left:
// the verb goes on to its verdict, its files and its exit code.
type outlet struct {
	w      io.Writer
	unread atomic.Bool
}

func (p *outlet) Write(b []byte) (int, error) {
	if p.unread.Load() {
		return len(b), nil
	}
	n, err := p.w.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		p.unread.Store(true)
		return len(b), nil
	}
	return n, err
}
