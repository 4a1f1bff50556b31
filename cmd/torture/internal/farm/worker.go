package farm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"locktorture/cmd/torture/internal/periodic"
)

// A Worker plays tasks until its context ends. What it plays lives in processes of
// its own, one for each task at a time.
type Worker struct {
	Access    Access
	Name      string // of letters, digits, "-" and "_"; among the farm's workers there is one of a name
	Build     Build
	Slots     int           // tasks at once, at most
	Abilities []string      // what the machine can offer
	Dir       string        // for what is being played
	Gate      Gate          // says when another task may begin
	Idle      time.Duration // without a task, or a farm, after which the worker ends; 0: it never does
	Env       []string      // of the processes that play, beside this one's
	Log       func(line string)

	// Beside is run beside the tasks, until its context ends: whoever locks alone has no
	// task played meanwhile. Nil: nothing is.
	Beside func(ctx context.Context, conn *nats.Conn, alone sync.Locker) error

	stores  stores
	players pool
	alone   sync.RWMutex // held by whoever plays, for writing by a task that wants to be alone
	playing atomic.Int64
	played  atomic.Int64
	asked   atomic.Int64 // ability of the last task, as an index

	last atomic.Int64 // when a task was last under way, in nanoseconds since 1970

	mu  sync.Mutex
	off map[string]context.CancelFunc // by the subject on which a task under way is called off

	opening sync.Mutex
	queues  map[string]queue // by ability
}

// A Gate limits how many tasks are under way by how well the machine bears it.
type Gate interface {
	Acquire(ctx context.Context) bool // waits until one more task may begin; false: ctx has ended
	Release()                         // a task has ended
	Note(l Load) Load                 // learns from a task's load how the machine bore it, and fills in what only the gate knows
}

// Run joins the farm, waits for its server where it is not there yet, and plays until
// ctx ends. Tasks under way then go back into the queue at once.
func (w *Worker) Run(ctx context.Context) (err error) {
	conn, refused, err := w.join(ctx)
	if err != nil || conn == nil {
		return err
	}
	defer conn.Close()
	w.off, w.queues = map[string]context.CancelFunc{}, map[string]queue{}
	w.last.Store(time.Now().UnixNano())
	w.players.abilities, w.players.env = map[string][]*player{}, w.Env
	defer w.players.close()
	if _, err := conn.Subscribe(offPrefix+">", w.callOff); err != nil {
		return err
	}
	plays := "has clients of runs alone"
	if w.Slots > 0 {
		plays = fmt.Sprintf("%d at once; plays %s", w.Slots, strings.Join(w.Abilities, ", "))
	}
	w.Log(fmt.Sprintf("joined the farm at %s as %s: %s", w.Access, w.Name, plays))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { w.beThere(ctx) })
	all.Go(func() { w.stopWhenIdle(ctx, cancel) })
	all.Go(func() { w.watchJobs(ctx) })
	for range w.Slots {
		all.Go(func() { w.work(ctx) })
	}
	var failed error
	if w.Beside != nil {
		all.Go(func() {
			if failed = w.Beside(ctx, conn, busyLocker{w}); failed != nil {
				cancel()
			}
		})
	}
	select {
	case <-ctx.Done():
	case err = <-refused:
		cancel()
	}
	all.Wait()
	return errors.Join(err, failed)
}

// A busyLocker keeps tasks out, and the worker from ending for want of any.
type busyLocker struct{ *Worker }

// Lock implements sync.Locker.
func (w busyLocker) Lock() {
	w.playing.Add(1)
	w.alone.Lock()
}

// Unlock implements sync.Locker.
func (w busyLocker) Unlock() {
	w.alone.Unlock()
	w.last.Store(time.Now().UnixNano())
	w.playing.Add(-1)
}

// join connects and opens the stores. It waits for a server that is away, and for
// ever; both of conn and err are nil when ctx ends first. refused gets what closes the
// connection for good.
func (w *Worker) join(ctx context.Context) (conn *nats.Conn, refused chan error, err error) {
	urls, err := w.Access.urls()
	if err != nil {
		return nil, nil, err
	}
	options, err := w.Access.options("torture worker "+w.Name, w.Log)
	if err != nil {
		return nil, nil, err
	}
	closed := make(chan error, 1)
	options = append(options, nats.RetryOnFailedConnect(true), nats.ClosedHandler(func(c *nats.Conn) {
		if err := c.LastError(); err != nil {
			closed <- fmt.Errorf("the farm at %s: %s", w.Access, hidden(err)) // it closes once
		}
	}))
	if conn, err = nats.Connect(urls, options...); err != nil {
		return nil, nil, fmt.Errorf("the farm at %s: %s", w.Access, hidden(err))
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	began, told := time.Now(), time.Time{}
	for {
		if conn.IsConnected() {
			if w.stores, err = openStores(ctx, js); err == nil {
				return conn, closed, nil
			}
		}
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			why := "nobody answers"
			if last := errors.Join(err, conn.LastError()); last != nil {
				why = hidden(last)
			}
			w.Log(fmt.Sprintf("waits for the farm at %s: %s", w.Access, why))
		}
		if w.Idle > 0 && time.Since(began) > w.Idle {
			conn.Close()
			w.Log(fmt.Sprintf("no farm for %v: ends", w.Idle))
			return nil, nil, nil
		}
		select {
		case err := <-closed:
			return nil, nil, err
		case <-time.After(time.Second / 2):
		case <-ctx.Done():
			conn.Close()
			return nil, nil, nil
		}
	}
}

// stopWhenIdle ends the worker when it has had nothing to play for w.Idle.
func (w *Worker) stopWhenIdle(ctx context.Context, end func()) {
	for w.Idle > 0 && periodic.Sleep(ctx, time.Second/4) {
		if w.playing.Load() == 0 && time.Since(time.Unix(0, w.last.Load())) > w.Idle {
			w.Log(fmt.Sprintf("had nothing to play for %v: ends", w.Idle))
			end()
		}
	}
}

// beThere says every while that the worker is there.
func (w *Worker) beThere(ctx context.Context) {
	for {
		raw, err := json.Marshal(Presence{
			Name: w.Name, Build: w.Build, Slots: w.Slots, Abilities: w.Abilities, Playing: int(w.playing.Load()), Played: int(w.played.Load()),
		})
		if err == nil {
			_, _ = w.stores.workers.Put(ctx, w.Name, raw) // while NATS is away nobody is seen
		}
		if !periodic.Sleep(ctx, presenceFor/4) {
			break
		}
	}
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_ = w.stores.workers.Purge(leaving, w.Name) // else it runs out by itself
}

// watchJobs says of each job whether it is one for this worker.
func (w *Worker) watchJobs(ctx context.Context) {
	watcher, err := w.stores.jobs.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		w.Log("watch for jobs: " + hidden(err))
		return
	}
	defer func() { _ = watcher.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return
		case entry := <-watcher.Updates():
			var a Announcement
			switch {
			case entry == nil || json.Unmarshal(entry.Value(), &a) != nil:
			case a.Build == w.Build:
				w.Log("plays " + a.About)
			default:
				w.Log(fmt.Sprintf("does not play %s: it is of %s, this worker of %s", a.About, a.Build, w.Build))
			}
		}
	}
}

// look is how long a slot waits for a task of the ability that was asked for last before
// it looks for those of others, and glance how long for one of these: longer than most
// servers need to answer. Neither loses a task whose server answers later.
const (
	look   = time.Second
	glance = 50 * time.Millisecond
)

// work plays one task after the other.
func (w *Worker) work(ctx context.Context) {
	for w.Gate.Acquire(ctx) {
		if m := w.next(ctx); m != nil {
			w.deal(ctx, m)
		}
		w.Gate.Release()
	}
}

// deal plays a task, hands its result in, and acknowledges it, in that order: nothing
// is lost if any of these is the last thing that the worker does.
func (w *Worker) deal(ctx context.Context, m jetstream.Msg) {
	var t Task
	meta, err := m.Metadata()
	if err = errors.Join(err, json.Unmarshal(m.Data(), &t)); err != nil {
		_ = m.Term() // nobody can read it
		w.Log("a task that cannot be read: " + hidden(err))
		return
	}
	if ctx.Err() != nil {
		_ = m.Nak()
		return
	}
	held := make(chan struct{})
	var holding sync.WaitGroup
	holding.Go(func() { hold(m, held) })
	defer holding.Wait()
	defer close(held)
	r := Result{Task: t, Worker: w.Name}
	if meta.NumDelivered > deliveries {
		r.Trouble = fmt.Sprintf("%d workers had it and none gave an answer: it may be what ends them", deliveries)
	} else if !w.play(ctx, &r) {
		_ = m.Nak()
		return
	}
	if err := w.handIn(ctx, r); err != nil {
		_ = m.Nak()
		return
	}
	w.played.Add(1)
	_ = m.Ack() // where that does not arrive, another worker's result is refused
}

// play has a task played and fills in its result; false: there is none, since ctx has
// ended.
func (w *Worker) play(ctx context.Context, r *Result) bool {
	w.playing.Add(1)
	defer func() {
		w.last.Store(time.Now().UnixNano())
		w.playing.Add(-1)
	}()
	task, cancel := context.WithCancel(ctx)
	defer cancel()
	if r.Task.Alone {
		w.alone.Lock()
		defer w.alone.Unlock()
	} else {
		w.alone.RLock()
		defer w.alone.RUnlock()
	}
	subject := offSubject(r.Task)
	w.mu.Lock()
	w.off[subject] = cancel
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.off, subject)
	}()
	dir, err := os.MkdirTemp(w.Dir, "task-")
	if err != nil {
		r.Trouble = err.Error()
		return true
	}
	defer os.RemoveAll(dir)
	a := w.players.play(task, r.Task, dir)
	if ctx.Err() != nil {
		return false
	}
	r.Body, r.Trouble, r.Load = a.Body, a.Trouble, w.Gate.Note(a.Load)
	if a.Record == "" {
		return true
	}
	name := r.Task.Job + "-" + r.Task.ID + "-" + nuid.Next()
	if err := putRecord(ctx, w.stores.records, name, filepath.Join(dir, a.Record)); err != nil {
		w.Log("store a record: " + hidden(err)) // what it shows is in the result all the same
		return ctx.Err() == nil
	}
	r.Record = name
	return true
}

// handIn stores a result, unless the task has one, for as long as that takes.
func (w *Worker) handIn(ctx context.Context, r Result) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return untilTaken(ctx, 0, w.Log, "hand a result in", func(ctx context.Context) error {
		_, err := w.stores.js.Publish(ctx, resultSubject(r.Task), raw, jetstream.WithExpectLastSequencePerSubject(0))
		if isThere(err) {
			w.forgetRecord(ctx, r)
		}
		return err
	})
}

// forgetRecord removes a result's record unless it is that result which was kept: an
// earlier try may have been taken, and its answer lost.
func (w *Worker) forgetRecord(ctx context.Context, r Result) {
	if r.Record == "" {
		return
	}
	var kept Result
	m, err := w.stores.results.GetLastMsgForSubject(ctx, resultSubject(r.Task))
	if err == nil && json.Unmarshal(m.Data, &kept) == nil && kept.Record != r.Record {
		_ = w.stores.records.Delete(ctx, r.Record) // else it goes with its job's
	}
}

// callOff ends a task under way that nobody waits for any more.
func (w *Worker) callOff(m *nats.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if cancel := w.off[m.Subject]; cancel != nil {
		cancel()
	}
}

// Validate names what cannot work.
func (w *Worker) Validate() error {
	switch {
	case w.Slots < 0:
		return fmt.Errorf("%d tasks at once: 0 or more", w.Slots)
	case len(w.Abilities) == 0 && w.Slots > 0:
		return errors.New("this machine can play nothing")
	case !Named(w.Name):
		return fmt.Errorf("name %q: letters, digits, - and _", w.Name)
	}
	return w.Access.Validate()
}

// Named reports whether a worker may have the name.
func Named(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !slices.Contains(nameRunes, r) })
}

var nameRunes = []rune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
