package distributed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"locktorture/cmd/torture/internal/farm"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

// recordFile, beside the histories that come in, has what a coordinator has learnt of its
// workers beside their events. With it the histories of a run can be merged whose
// coordinator ended before it could.
const recordFile = "clocks.jsonl"

// A note is a line of the record: which run it is, or what was learnt of a worker.
type note struct {
	Run     string   `json:"run,omitempty"`
	Worker  string   `json:"worker,omitempty"`
	Reading *Reading `json:"reading,omitempty"`
	Silence *Silence `json:"silence,omitempty"`
}

// A record is what a coordinator notes while a run goes on, each line at once.
type record struct {
	mu   sync.Mutex
	file *os.File
	err  error
}

func newRecord(dir, run string) (*record, error) {
	file, err := os.OpenFile(filepath.Join(dir, recordFile), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	r := &record{file: file}
	r.add(note{Run: run})
	return r, r.err
}

// add adds a line. A record that is not there takes none.
func (r *record) add(n note) {
	if r == nil {
		return
	}
	line, err := json.Marshal(n)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.err == nil {
		_, err = r.file.Write(append(line, '\n'))
	}
	r.err = errors.Join(r.err, err)
}

func (r *record) close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.err, r.file.Close())
}

// An Unfinished is what is on disk of a run with workers whose coordinator ended before
// it had merged their histories.
type Unfinished struct {
	dir, run string
	readings map[string][]Reading
	silences map[string][]Silence
}

// ReadUnfinished reads what the coordinator had noted in dir, as far as it had got.
func ReadUnfinished(dir string) (*Unfinished, error) {
	raw, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err != nil {
		return nil, err
	}
	u := &Unfinished{dir: dir, readings: map[string][]Reading{}, silences: map[string][]Silence{}}
	for line := range bytes.Lines(raw) {
		var n note
		if !bytes.HasSuffix(line, []byte("\n")) { // it was being written
			break
		}
		if err := json.Unmarshal(line, &n); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, recordFile), err)
		}
		switch {
		case n.Run != "":
			u.run = n.Run
		case n.Reading != nil:
			u.readings[n.Worker] = append(u.readings[n.Worker], *n.Reading)
		case n.Silence != nil:
			u.silences[n.Worker] = append(u.silences[n.Worker], *n.Silence)
		}
	}
	if u.run == "" {
		return nil, fmt.Errorf("%s: it does not say which run this is", filepath.Join(dir, recordFile))
	}
	return u, nil
}

// Silences are the spans in which a worker answered nothing, as far as they are known.
func (u *Unfinished) Silences(worker string) []Silence { return u.silences[worker] }

// Drain takes in what is left in the streams that the coordinator kept itself.
func (u *Unfinished) Drain(ctx context.Context, h history.Header, workers []string) (err error) {
	streams := filepath.Join(u.dir, natsDir)
	if _, err := os.Stat(streams); err != nil {
		return nil // a server of somebody else had them
	}
	s := &Session{}
	if err := s.choose(); err != nil {
		return err
	}
	hub, err := farm.OpenHub(s.Access, streams, 0, "torture check", func(string) {})
	if err != nil {
		return err
	}
	defer hub.Close()
	js, err := jetstream.New(hub.Conn)
	if err != nil {
		return err
	}
	stream, err := js.Stream(ctx, streamPrefix+u.run)
	if err != nil {
		return fmt.Errorf("read the stream of run %s: %w", u.run, err)
	}
	fresh, err := os.MkdirTemp(u.dir, "drained-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(fresh)) }()
	for _, w := range workers {
		if err := drain(ctx, stream, historyPrefix+u.run+"."+w, fresh, w, h); err != nil {
			return fmt.Errorf("read the stream of run %s: worker %s: %w", u.run, w, err)
		}
	}
	for _, w := range workers {
		if err := os.Rename(filepath.Join(fresh, intakeName(w)), filepath.Join(u.dir, intakeName(w))); err != nil {
			return err
		}
	}
	hub.Close()
	return os.RemoveAll(streams)
}

// drain takes all that a stream has of a worker into a file in dir.
func drain(ctx context.Context, stream jetstream.Stream, subject, dir, worker string, h history.Header) (err error) {
	in, err := newIntake(dir, worker, h)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	for next := uint64(1); ; {
		m, err := stream.GetMsg(ctx, next, jetstream.WithGetMsgSubject(subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err == nil {
			err = in.append(m.Data, func(*history.Event) {})
		}
		if err != nil {
			return err
		}
		next = m.Sequence + 1
	}
}

// Source is the history of a worker: its own file, where that is in dir or was kept
// there, or else what came in. It is lost, since nobody knows what it did after that.
func (u *Unfinished) Source(worker string, clients []string) (_ Source, _ Clock, _ io.Closer, err error) {
	path, latest, err := u.longest(worker)
	if err != nil {
		return Source{}, Clock{}, nil, err
	}
	reader, closer, err := historyfile.Open(path, nil)
	if err != nil {
		return Source{}, Clock{}, nil, err
	}
	clock := EstimateClock(u.readings[worker], 0, latest)
	return Source{
		Host: worker, Events: reader, Time: clock.Coordinator, Clients: clients,
		Lost: fmt.Sprintf("worker %s was, since the coordinator ended", worker),
	}, clock, closer, nil
}

// longest is that of a worker's files which has the most events, and the time of the last.
func (u *Unfinished) longest(worker string) (path string, latest time.Duration, err error) {
	most, why := -1, error(nil)
	own := journalName(u.run, worker)
	for _, file := range []string{filepath.Join(u.dir, own), filepath.Join(u.dir, journalsDir, own), filepath.Join(u.dir, intakeName(worker))} {
		n, last, err := length(file)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			why = errors.Join(why, fmt.Errorf("%s: %w", file, err))
		case n > most:
			path, most, latest = file, n, last
		}
	}
	if path == "" {
		return "", 0, errors.Join(fmt.Errorf("no history of worker %s is there: copy %s from its --dir into %s", worker, own, u.dir), why)
	}
	return path, latest, nil
}

// length counts the events of a history, as far as it is there.
func length(path string) (n int, latest time.Duration, err error) {
	reader, closer, err := historyfile.Open(path, nil)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	var e history.Event
	for {
		if err := reader.Next(&e); errors.Is(err, io.EOF) {
			return n, latest, nil
		} else if err != nil {
			return 0, 0, err
		}
		n, latest = n+1, e.Time
	}
}
