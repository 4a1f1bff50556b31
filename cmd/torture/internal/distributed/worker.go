package distributed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"locktorture/cmd/torture/internal/farm"
	"locktorture/cmd/torture/internal/periodic"
	"locktorture/workload/history"
)

// A Worker plays parts of runs, one at a time.
type Worker struct {
	Conn  *nats.Conn
	Name  string // among the workers of a server there is one of a name
	Build farm.Build
	Dir   string // for journals
	Log   func(line string)

	// Open begins a part of a run. The part makes its journal by keep, and ends it.
	Open func(ctx context.Context, part json.RawMessage, keep Keep) (Part, error)

	// Alone is locked while a part is played; nil: nothing needs to be kept out.
	Alone sync.Locker

	js   jetstream.JetStream
	mu   sync.Mutex
	busy bool
}

// Keep makes the journal of a part.
type Keep func(h history.Header) (*Journal, error)

// A Part is what a worker plays of a run.
type Part interface {
	// Do does one thing that the coordinator asks for, and returns what it comes to, in
	// JSON. Several are asked for at once.
	Do(ctx context.Context, op string, body json.RawMessage) (any, error)

	// Now is the time by the clock that stamps the part's events.
	Now() time.Duration

	// Over is closed when the part has ended, its journal sent.
	Over() <-chan struct{}

	// Abandon ends a part that nobody asks for anything any more.
	Abandon()
}

// ErrTaken is what Run comes to where another worker of the name is at work: on the same
// server, or with its journals in the same folder.
var ErrTaken = errors.New("another worker has this name")

// takenLimit is how long another worker of the name may take to say that it is there.
const takenLimit = 10 * time.Second

// Run answers calls until ctx ends, after it has sent what an earlier process of the
// worker's name has left in its folder.
func (w *Worker) Run(ctx context.Context) error {
	release, err := w.claim(ctx)
	if err != nil {
		return err
	}
	defer release()
	here, err := w.Conn.Subscribe(herePrefix+w.Name, w.here)
	if err != nil {
		return err
	}
	if w.js, err = jetstream.New(w.Conn); err != nil {
		return err
	}
	if err := Resume(ctx, w.js, w.Dir, w.Name, w.Log); err != nil {
		w.Log(err.Error())
	}
	calls, err := w.Conn.Subscribe(callSubject, w.offer)
	if err != nil {
		return err
	}
	var parts sync.WaitGroup
	tasks, err := w.Conn.Subscribe(workerPrefix+w.Name, func(m *nats.Msg) {
		parts.Go(func() { w.play(ctx, m) })
	})
	if err != nil {
		return err
	}
	<-ctx.Done()
	_ = here.Unsubscribe() // the connection may be gone
	_ = calls.Unsubscribe()
	_ = tasks.Unsubscribe()
	parts.Wait()
	return nil
}

// claim keeps the name for the worker, on this machine until release is called, and refuses
// one that another process has.
func (w *Worker) claim(ctx context.Context) (release func(), err error) {
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := farm.LockFile(filepath.Join(w.Dir, w.Name+".lock"))
	if errors.Is(err, farm.ErrLocked) {
		return nil, fmt.Errorf("%w, %s, and keeps its journals in %s: --name and --dir", ErrTaken, w.Name, w.Dir)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, takenLimit)
	defer cancel()
	if m, err := w.Conn.RequestWithContext(ctx, herePrefix+w.Name, nil); err == nil { // else nobody is there, or not any more
		return nil, errors.Join(fmt.Errorf("%w, %s: %s", ErrTaken, w.Name, history.OneLine(string(m.Data))), lock.Close())
	}
	return func() { _ = lock.Close() }, nil // which the end of the process does too
}

// here says who has the name.
func (w *Worker) here(m *nats.Msg) {
	_ = m.Respond(fmt.Appendf(nil, "process %d on %s", os.Getpid(), hostname())) // who asks takes silence for nobody
}

func hostname() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}

// offer answers a call of a coordinator, unless the worker has a part. To one of another
// build it says that it takes none.
func (w *Worker) offer(m *nats.Msg) {
	var c call
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy || json.Unmarshal(m.Data, &c) != nil {
		return
	}
	o := Offer{Name: w.Name, Host: hostname(), PID: os.Getpid()}
	if c.Build != w.Build {
		o.Name, o.Not = "", fmt.Sprintf("worker %s takes no part: it is of %s, and the coordinator of %s", w.Name, w.Build, c.Build)
	}
	if raw, err := json.Marshal(o); err == nil {
		_ = m.Respond(raw) // else it is called again
	}
}

// reserve marks the worker busy; false: it is already.
func (w *Worker) reserve() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy {
		return false
	}
	w.busy = true
	return true
}

func (w *Worker) free() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy = false
}

// play plays the part that m gives it.
func (w *Worker) play(ctx context.Context, m *nats.Msg) {
	if !w.reserve() {
		respond(m, nil, fmt.Errorf("it has a part already"))
		return
	}
	defer w.free()
	if w.Alone != nil {
		w.Alone.Lock()
		defer w.Alone.Unlock()
	}
	var t task
	if err := json.Unmarshal(m.Data, &t); err != nil {
		respond(m, nil, err)
		return
	}
	part, err := w.Open(ctx, t.Part, func(h history.Header) (*Journal, error) { return NewJournal(w.js, w.Dir, t.Run, w.Name, h) })
	if err != nil {
		respond(m, nil, err)
		return
	}
	s := &service{part: part, done: map[uint64]*reply{}, asked: time.Now()}
	if err := s.serve(ctx, w, t.Run, m); err != nil {
		w.Log("a part of run " + t.Run + ": " + err.Error())
	}
}

// A service answers what a coordinator asks of a part.
type service struct {
	part    Part
	running sync.WaitGroup

	mu    sync.Mutex
	asked time.Time
	done  map[uint64]*reply
}

// A reply is what a question came to, once ready is closed.
type reply struct {
	ready chan struct{}
	body  any
	err   error
}

func (s *service) serve(ctx context.Context, w *Worker, run string, given *nats.Msg) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	clock, err := w.Conn.Subscribe(clockPrefix+run+"."+w.Name, s.clock)
	if err == nil {
		defer func() { _ = clock.Unsubscribe() }()
		var asks *nats.Subscription
		asks, err = w.Conn.Subscribe(askPrefix+run+"."+w.Name, func(m *nats.Msg) {
			s.running.Go(func() { s.answer(ctx, m) })
		})
		if err == nil {
			defer func() { _ = asks.Unsubscribe() }()
		}
	}
	if err != nil {
		respond(given, nil, err)
		s.part.Abandon()
		return err
	}
	respond(given, struct{}{}, nil)
	defer s.running.Wait()
	defer s.part.Abandon()
	for {
		select {
		case <-s.part.Over():
			periodic.Sleep(ctx, 2*askAgain) // its last answer may not have arrived
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
		s.mu.Lock()
		silent := time.Since(s.asked)
		s.mu.Unlock()
		if silent > abandonAfter {
			return fmt.Errorf("nobody has asked for anything for %v: it is given up", abandonAfter)
		}
	}
}

// clock says what the clock shows.
func (s *service) clock(m *nats.Msg) {
	got := s.part.Now()
	s.mu.Lock()
	s.asked = time.Now()
	s.mu.Unlock()
	if raw, err := json.Marshal(clockAnswer{got, s.part.Now()}); err == nil {
		_ = m.Respond(raw) // else it is read again
	}
}

// answer does what is asked, once for each question, however often that comes.
func (s *service) answer(ctx context.Context, m *nats.Msg) {
	var q question
	if err := json.Unmarshal(m.Data, &q); err != nil {
		respond(m, nil, err)
		return
	}
	s.mu.Lock()
	s.asked = time.Now()
	r, again := s.done[q.ID]
	if !again {
		r = &reply{ready: make(chan struct{})}
		s.done[q.ID] = r
	}
	s.mu.Unlock()
	if !again {
		r.body, r.err = s.part.Do(ctx, q.Op, q.Body)
		close(r.ready)
	}
	<-r.ready
	respond(m, r.body, r.err)
}

// respond answers; what does not arrive is asked for again.
func respond(m *nats.Msg, body any, err error) {
	var a answer
	if err == nil {
		a.Body, err = json.Marshal(body)
	}
	if err != nil {
		a.Err = cmp.Or(err.Error(), "it failed")
	}
	if raw, err := json.Marshal(a); err == nil {
		_ = m.Respond(raw)
	}
}
