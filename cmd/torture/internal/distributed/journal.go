package distributed

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"locktorture/cmd/torture/internal/periodic"
	"locktorture/workload/history"
)

const (
	// writeEvery is how long events are gathered before they are written and sent: what
	// a coordinator learns of them is older by as much.
	writeEvery = 5 * time.Millisecond

	// batchBytes is how much is sent at a time, a longer line apart.
	batchBytes = 512 << 10

	// publishLimit bounds one try to send a batch.
	publishLimit = 5 * time.Second

	// sendPatience is for how long, at the end, nothing need be acknowledged before the rest
	// is left in the file.
	sendPatience = 30 * time.Second
)

// A Journal is a worker's own record of its part of a run. It is a history.Sink: events
// are in a file before anybody else sees them, and are sent from there, in order, until
// the run's stream has acknowledged them. They outlive the worker's process.
type Journal struct {
	js     jetstream.JetStream
	run    string
	worker string
	file   *os.File
	acked  *os.File // how many bytes of file are acknowledged

	wake chan struct{} // holds an element when there is something to write
	more chan struct{} // … to send
	stop context.CancelFunc
	all  sync.WaitGroup

	mu      sync.Mutex
	buf     []byte
	count   int
	pending int   // bytes that are not in the file yet: in buf, or being written
	written int64 // bytes in the file
	sent    int64 // … that are acknowledged
	err     error // that kept the file from being written
	refused error // why the stream did not take the latest batch; nil: it did
}

// journalSuffix and ackedSuffix end the names of a journal's two files.
const (
	journalSuffix = ".jsonl"
	ackedSuffix   = ".acked"
)

func journalName(run, worker string) string { return run + "." + worker + journalSuffix }

// NewJournal makes the journal of a part in dir. Close ends it.
func NewJournal(js jetstream.JetStream, dir, run, worker string, h history.Header) (*Journal, error) {
	j := &Journal{js: js, run: run, worker: worker, wake: make(chan struct{}, 1), more: make(chan struct{}, 1)}
	path := filepath.Join(dir, journalName(run, worker))
	var err error
	if j.file, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("keep a journal: %w", err)
	}
	if j.acked, err = os.OpenFile(path+ackedSuffix, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600); err != nil {
		return nil, fmt.Errorf("keep a journal: %w", errors.Join(err, j.file.Close()))
	}
	if j.buf, err = history.AppendHeader(nil, h); err != nil {
		return nil, fmt.Errorf("keep a journal: %w", err)
	}
	j.pending = len(j.buf)
	j.start()
	return j, nil
}

func (j *Journal) start() {
	ctx, stop := context.WithCancel(context.Background())
	j.stop = stop
	j.all.Go(func() { j.write(ctx) })
	j.all.Go(func() { j.send(ctx) })
	wake(j.wake)
}

// Event implements history.Sink.
func (j *Journal) Event(e *history.Event) {
	j.mu.Lock()
	before := len(j.buf)
	j.buf = history.AppendEvent(j.buf, e)
	j.pending += len(j.buf) - before
	j.count++
	j.mu.Unlock()
	wake(j.wake)
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Err returns what kept events from the file.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// write puts what was gathered into the file, again and again.
func (j *Journal) write(ctx context.Context) {
	for {
		select {
		case <-j.wake:
		case <-ctx.Done():
			j.flush()
			return
		}
		j.flush()
		periodic.Sleep(ctx, writeEvery)
	}
}

func (j *Journal) flush() {
	j.mu.Lock()
	batch, failed := j.buf, j.err
	j.buf = nil
	j.mu.Unlock()
	if len(batch) == 0 || failed != nil { // a history with a hole could not be judged
		return
	}
	n, err := j.file.WriteAt(batch, j.written)
	j.mu.Lock()
	if err != nil {
		j.err = fmt.Errorf("keep a journal: %w", err)
		n = 0
	}
	j.written += int64(n)
	j.pending -= len(batch)
	j.mu.Unlock()
	wake(j.more)
}

// send hands what is in the file to the run's stream, batch by batch.
func (j *Journal) send(ctx context.Context) {
	buf := make([]byte, batchBytes)
	for {
		j.mu.Lock()
		left := j.written - j.sent
		j.mu.Unlock()
		if left == 0 {
			select {
			case <-j.more:
				continue
			case <-ctx.Done():
				return
			}
		}
		n, err := j.file.ReadAt(buf[:min(left, int64(len(buf)))], j.sent)
		if err != nil && !errors.Is(err, io.EOF) {
			j.fail(err)
			return
		}
		batch := buf[:bytes.LastIndexByte(buf[:n], '\n')+1]
		if len(batch) == 0 { // a line that is longer than all this
			buf = make([]byte, 2*history.MaxLine)
			continue
		}
		if err := j.publish(ctx, batch, nil); err != nil {
			return
		}
		j.mu.Lock()
		j.sent += int64(len(batch))
		at := j.sent
		j.mu.Unlock()
		if _, err := j.acked.WriteAt([]byte(fmt.Sprintf("%020d", at)), 0); err != nil {
			j.fail(err)
			return
		}
	}
}

func (j *Journal) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = errors.Join(j.err, fmt.Errorf("keep a journal: %w", err))
}

// publish sends one message until the stream has it. One that it had already is
// acknowledged as well: it goes by the place in the file.
func (j *Journal) publish(ctx context.Context, data []byte, header nats.Header) error {
	m := &nats.Msg{Subject: historyPrefix + j.run + "." + j.worker, Data: data, Header: header}
	id := fmt.Sprintf("%s/%s/%d/%d", j.run, j.worker, j.sent, len(data))
	for {
		one, cancel := context.WithTimeout(ctx, publishLimit)
		_, err := j.js.PublishMsg(one, m, jetstream.WithMsgID(id))
		cancel()
		j.mu.Lock()
		j.refused = err
		j.mu.Unlock()
		if err == nil {
			return nil
		}
		if !periodic.Sleep(ctx, 100*time.Millisecond) {
			return errors.Join(ctx.Err(), err)
		}
	}
}

// Close waits, while ctx lasts, until all events are acknowledged, says that nothing
// follows, and closes the files, which stay. It returns how many events there are.
func (j *Journal) Close(ctx context.Context) (count int, err error) {
	j.mu.Lock()
	count = j.count
	j.mu.Unlock()
	err = j.finish(ctx, nats.Header{endHeader: {strconv.Itoa(count)}})
	return count, errors.Join(err, j.file.Close(), j.acked.Close())
}

func (j *Journal) finish(ctx context.Context, end nats.Header) error {
	defer j.all.Wait()
	defer j.stop()
	if err := j.sendAll(ctx); err != nil {
		return err
	}
	if err := j.publish(ctx, nil, end); err != nil {
		return fmt.Errorf("send the journal: %w", err)
	}
	if err := os.Remove(j.acked.Name()); err != nil { // it says that something may be left to send
		return err
	}
	return nil
}

// sendAll waits until all that was recorded is acknowledged.
func (j *Journal) sendAll(ctx context.Context) error {
	for before, since := int64(-1), time.Now(); ; {
		j.mu.Lock()
		left, sent, written, refused, err := j.pending, j.sent, j.written, j.refused, j.err
		j.mu.Unlock()
		switch {
		case err != nil:
			return err
		case left == 0 && sent == written:
			return nil
		case sent != before:
			before, since = sent, time.Now()
		}
		if time.Since(since) > sendPatience || !periodic.Sleep(ctx, writeEvery) {
			return fmt.Errorf("send the journal: NATS has not acknowledged %d of %d bytes, which are in %s: %w",
				written-sent, written, j.file.Name(), cmp.Or(refused, ctx.Err(), errors.New("no answer")))
		}
	}
}

// Resume sends what journals in dir still have of runs whose stream is there: those of
// a worker of that name which ended before its part did. It forgets the others.
func Resume(ctx context.Context, js jetstream.JetStream, dir, worker string, say func(string)) error {
	unsent, err := filepath.Glob(filepath.Join(dir, "*."+worker+journalSuffix+ackedSuffix))
	if err != nil {
		return err
	}
	for _, path := range unsent {
		run, _, _ := strings.Cut(filepath.Base(path), ".")
		if _, err := js.Stream(ctx, streamPrefix+run); err != nil {
			if errors.Is(err, jetstream.ErrStreamNotFound) {
				err = os.Remove(path)
			}
			if err != nil {
				return err
			}
			continue
		}
		n, err := resume(ctx, js, strings.TrimSuffix(path, ackedSuffix), run, worker)
		if err != nil {
			return fmt.Errorf("send what is left of run %s: %w", run, err)
		}
		say(fmt.Sprintf("sent what was left of run %s: %d events in all", run, n))
	}
	return nil
}

// resume sends the rest of one journal, up to its last whole line.
func resume(ctx context.Context, js jetstream.JetStream, path, run, worker string) (count int, err error) {
	whole, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	whole = whole[:bytes.LastIndexByte(whole, '\n')+1]
	j := &Journal{js: js, run: run, worker: worker, wake: make(chan struct{}, 1), more: make(chan struct{}, 1), written: int64(len(whole))}
	if j.file, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
		return 0, err
	}
	if j.acked, err = os.OpenFile(path+ackedSuffix, os.O_RDWR, 0); err != nil {
		return 0, errors.Join(err, j.file.Close())
	}
	defer func() { err = errors.Join(err, j.file.Close(), j.acked.Close()) }()
	text, err := io.ReadAll(j.acked)
	if err != nil {
		return 0, err
	}
	if len(text) > 0 { // else nothing was acknowledged
		if j.sent, err = strconv.ParseInt(string(text), 10, 64); err != nil || j.sent > j.written {
			return 0, fmt.Errorf("%s: not the place of a journal: %q", j.acked.Name(), text)
		}
	}
	count = max(bytes.Count(whole, []byte("\n"))-1, 0) // the header is no event
	j.start()
	return count, j.finish(ctx, nats.Header{endHeader: {strconv.Itoa(count)}, returnedHeader: {"1"}})
}
