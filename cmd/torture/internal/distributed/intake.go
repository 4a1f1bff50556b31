package distributed

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"locktorture/workload/history"
)

// An intake is a worker's history as it comes in, in a file: lines as the worker wrote
// them, each once.
type intake struct {
	path string
	file *os.File
	pack *zstd.Encoder
	dec  history.Decoder
	next atomic.Int64 // index of the event that comes next

	event   history.Event
	flushed time.Time
}

// flushEvery is how often what has come is put into the file, for a coordinator that ends
// before it closes that.
const flushEvery = time.Second

func intakeName(worker string) string { return worker + journalSuffix + ".zst" }

// newIntake makes the file of a worker's history in dir.
func newIntake(dir, worker string, h history.Header) (*intake, error) {
	in := &intake{path: filepath.Join(dir, intakeName(worker))}
	var err error
	if in.file, err = os.Create(in.path); err != nil {
		return nil, err
	}
	if in.pack, err = zstd.NewWriter(in.file, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)); err != nil {
		return nil, errors.Join(err, in.file.Close())
	}
	head, err := history.AppendHeader(nil, h)
	if err == nil {
		_, err = in.pack.Write(head)
	}
	return in, err
}

// have is how many events have come.
func (in *intake) have() int { return int(in.next.Load()) }

// append appends whole lines, one event each, and hands the events to sink. Events that have
// come before are skipped; a gap in their indices is an error.
func (in *intake) append(lines []byte, sink func(e *history.Event)) error {
	for len(lines) > 0 {
		n := bytes.IndexByte(lines, '\n') + 1
		line := lines[:n]
		lines = lines[n:]
		switch {
		case n == 0:
			return errors.New("a line has no end")
		case bytes.HasPrefix(line, []byte(`{"type":`)): // the header, which the intake wrote itself
			continue
		}
		if err := in.dec.Event(line, &in.event); err != nil {
			return err
		}
		next := in.have()
		switch {
		case in.event.Index < next:
			continue
		case in.event.Index > next:
			return fmt.Errorf("events %d to %d are missing", next, in.event.Index-1)
		}
		if _, err := in.pack.Write(line); err != nil {
			return err
		}
		in.next.Add(1)
		sink(&in.event)
	}
	if now := time.Now(); now.Sub(in.flushed) > flushEvery {
		in.flushed = now
		return in.pack.Flush()
	}
	return nil
}

// close writes the rest.
func (in *intake) close() error { return errors.Join(in.pack.Close(), in.file.Close()) }
