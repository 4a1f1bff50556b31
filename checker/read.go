package checker

import (
	"context"
	"errors"
	"fmt"
	"io"

	"locktorture/workload/history"
)

// readAhead is how many events are decoded at a time, and readBatches how many
// such batches are under way: some are judged while others are decoded. With
// fewer, each side waits for the other more than it works.
const (
	readAhead   = 256
	readBatches = 8
)

// A batch is what was decoded in one go, and what ended the decoding.
type batch struct {
	events []history.Event
	err    error
}

// CheckReader judges a history while it is read; its memory does not grow with
// the history. What breaks the format is an error and no verdict. When ctx runs
// out of time while events are still coming, what was read until then is judged
// and the report says so (V5); when it is cancelled, that is the error.
func CheckReader(ctx context.Context, source *history.Reader, o Options) (Report, error) {
	j := New(source.Header(), o)
	err := j.read(ctx, source)
	j.gaveUp = errors.Is(err, context.DeadlineExceeded)
	if err != nil && !j.gaveUp {
		return Report{}, err
	}
	return j.Finish(ctx, source.Truncated()), nil
}

// read judges all of source. Decoding has a goroutine of its own, which has
// ended when read returns.
func (j *Judge) read(ctx context.Context, source *history.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	full, empty := make(chan batch, readBatches), make(chan []history.Event, readBatches)
	for range readBatches {
		empty <- make([]history.Event, readAhead)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		decode(ctx, source, full, empty)
	}()
	defer func() { cancel(); <-done }()
	for b := range full {
		j.Events(b.events)
		switch {
		case errors.Is(b.err, io.EOF):
			return nil
		case b.err != nil:
			return b.err
		}
		empty <- b.events[:readAhead]
	}
	return ctx.Err()
}

// decode fills batches until the source or ctx ends.
func decode(ctx context.Context, source *history.Reader, full chan<- batch, empty <-chan []history.Event) {
	defer close(full)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case events := <-empty:
			n := 0
			var err error
			for n < len(events) && err == nil {
				if err = source.Next(&events[n]); err == nil {
					n++
				}
			}
			full <- batch{events[:n], err}
			if err != nil {
				return
			}
		}
	}
}

// gaveUpText says how far a judge came that ran out of time.
func (j *Judge) gaveUpText() string {
	return fmt.Sprintf("The judge ran out of time after %d events: they were judged, and nothing that came after. Allow it more (--check-timeout), or none.", j.env.Seen)
}
