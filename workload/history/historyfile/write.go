// Package historyfile keeps histories in files: it writes them while a run
// goes on, so that a run which is killed leaves a readable prefix, and opens
// them whatever their compression.
package historyfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"locktorture/workload/history"
)

const (
	flushEvery = 500 * time.Millisecond // the format promises a frame a second
	frameBytes = 1 << 20                // of lines in one frame
	maxPending = 8 << 20                // of lines that wait for the disk, before Event waits too
	keptBytes  = 2 * frameBytes         // of a buffer that is used again; one that a stall made larger is not
	closeLimit = 5 * time.Second        // for a disk that has been given up, before Close does without it
)

// A File is a history.Sink that writes to disk behind the recorder's back:
// Event only gathers lines, a goroutine of the File's own compresses and
// writes them, every half second or megabyte, each time as complete frames
// that end with a line. When the disk cannot keep up by 8 MiB, Event waits for
// it. The first error sticks, and nothing is written after it.
type File struct {
	dst *os.File
	enc *zstd.Encoder // nil for plain lines

	out    sync.Mutex // held while a batch is taken and written, outside mu
	spare  []byte
	packed []byte
	torn   bool // a write failed, perhaps half way

	mu      sync.Mutex
	room    sync.Cond // pending was taken, or err set
	pending []byte
	closed  bool
	writing time.Time // since when the disk has had a batch; zero while it has none
	err     error

	wake    chan struct{} // a frame's worth is pending
	quit    chan struct{}
	running sync.WaitGroup
}

// Create makes the file at path, which must not exist, and writes the header
// through: plain JSON lines when path ends in .jsonl, else zstd frames. The
// caller closes it.
func Create(path string, h history.Header) (*File, error) {
	dst, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create history: %w", err)
	}
	f, err := start(dst, !strings.HasSuffix(path, ".jsonl"), h)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create history %s: %w", path, err), dst.Close())
	}
	return f, nil
}

// start writes the header to dst and starts the goroutine.
func start(dst *os.File, pack bool, h history.Header) (*File, error) {
	header, err := history.AppendHeader(nil, h)
	if err != nil {
		return nil, err
	}
	f := &File{dst: dst, pending: header, wake: make(chan struct{}, 1), quit: make(chan struct{})}
	f.room.L = &f.mu
	if pack {
		f.enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(frameBytes)) // the encoder keeps two windows
		if err != nil {
			return nil, err
		}
	}
	if err := f.Flush(); err != nil {
		return nil, err
	}
	f.running.Go(f.run)
	return f, nil
}

// Event implements history.Sink.
func (f *File) Event(e *history.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.pending) >= maxPending && f.err == nil && !f.closed {
		f.room.Wait()
	}
	if f.closed {
		f.fail(fmt.Errorf("write history: event %d came after the file was closed", e.Index))
	}
	if f.err != nil {
		return
	}
	before := len(f.pending)
	f.pending = history.AppendEvent(f.pending, e)
	if n := len(f.pending) - before; n > history.MaxLine {
		f.pending = f.pending[:before]
		f.fail(fmt.Errorf("write history: event %d takes %d bytes, a line holds %d", e.Index, n, history.MaxLine))
	}
	if len(f.pending) >= frameBytes {
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

// Err returns the first error so far.
func (f *File) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// Stalled says for how long the disk has been taking the present batch; 0 when
// it has none.
func (f *File) Stalled() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.writing.IsZero() {
		return 0
	}
	return time.Since(f.writing)
}

// GiveUp has nothing more be written, for the reason given: who waits for the
// disk in Event goes on at once, and Close soon.
func (f *File) GiveUp(why error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail(why)
}

// fail keeps the first error. It is called with mu held.
func (f *File) fail(err error) {
	if f.err == nil {
		f.err = err
		f.room.Broadcast()
	}
}

// run writes what is pending until quit is closed.
func (f *File) run() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-f.wake:
		case <-f.quit:
			return
		}
		f.write()
	}
}

// Flush writes every event taken so far, and returns the first error.
func (f *File) Flush() error {
	f.write()
	return f.Err()
}

// write takes what is pending and writes it as complete frames. After a failed
// write nothing may follow: it would be read as the torn frame's rest.
func (f *File) write() {
	f.out.Lock()
	defer f.out.Unlock()
	batch := f.swap()
	defer f.took()
	for rest := batch; len(rest) > 0 && !f.torn; {
		var lines []byte
		lines, rest = cutLines(rest)
		if err := f.writeFrame(lines); err != nil {
			f.torn = true
			f.mu.Lock()
			f.fail(fmt.Errorf("write history: %w", err))
			f.mu.Unlock()
		}
	}
	f.spare = batch[:0]
	if cap(batch) > keptBytes {
		f.spare = nil
	}
}

// swap swaps the pending lines for the spare buffer.
func (f *File) swap() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	batch := f.pending
	f.pending, f.writing = f.spare, time.Now()
	f.room.Broadcast()
	return batch
}

// took notes that the disk has the batch, or never will.
func (f *File) took() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writing = time.Time{}
}

func (f *File) writeFrame(lines []byte) error {
	if f.enc != nil {
		f.packed = f.enc.EncodeAll(lines, f.packed[:0])
		lines = f.packed
	}
	_, err := f.dst.Write(lines)
	return err
}

// cutLines cuts whole lines of about a frame off batch, which ends with one.
func cutLines(batch []byte) (lines, rest []byte) {
	if len(batch) <= frameBytes {
		return batch, nil
	}
	end := bytes.LastIndexByte(batch[:frameBytes], '\n') + 1
	if end == 0 {
		end = frameBytes + bytes.IndexByte(batch[frameBytes:], '\n') + 1
	}
	return batch[:end], batch[end:]
}

// Close writes what is left, ends the goroutine, and closes the file. It
// returns the first error of the File's life, each time it is called.
func (f *File) Close() error {
	f.mu.Lock()
	again := f.closed
	f.closed = true
	f.room.Broadcast()
	f.mu.Unlock()
	if again {
		return f.Err()
	}
	close(f.quit)
	var err error
	if f.waitStopped() {
		f.write()
		err = f.dst.Sync()
	}
	err = errors.Join(err, f.dst.Close())
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.fail(fmt.Errorf("close history: %w", err))
	}
	return f.err
}

// waitStopped waits until the writing goroutine has ended; false: it hangs in a write to a
// disk that has been given up.
func (f *File) waitStopped() bool {
	done := make(chan struct{})
	go func() {
		f.running.Wait()
		close(done)
	}()
	for patience := closeLimit; ; patience = closeLimit / 50 {
		select {
		case <-done:
			return true
		case <-time.After(patience):
			if f.Err() != nil {
				return false
			}
		}
	}
}
