package farm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/nats-io/nats.go/jetstream"

	"locktorture/cmd/torture/internal/periodic"
	"locktorture/reports/unit"
)

// A Config says of a coordinator where its farm is.
type Config struct {
	Access Access
	Serve  bool   // start the server at that address, in this process
	Dir    string // of the job: what a later session goes on with
	Build  Build
	About  string // the job, in words
	Log    func(line string)

	MaxStore int64         // bytes that the own server's streams may take; 0: most of the disk
	Patience time.Duration // for a server that takes nothing; 0: defaultPatience
}

// defaultPatience is how long a coordinator tries to hand out one task.
const defaultPatience = 2 * time.Minute

// folder, in a job's directory, is where the coordinator's own server keeps its streams.
const folder = "farm"

// A Coordinator lays out the tasks of one job and takes in their results. It may be
// used by several goroutines.
type Coordinator struct {
	cfg     Config
	job     string
	resumed bool
	lock    *os.File
	hub     *Hub
	stores  stores
	consume jetstream.ConsumeContext

	stop    context.CancelCauseFunc // ends what the coordinator started
	running context.Context
	tasks   sync.WaitGroup

	mu      sync.Mutex
	known   map[string]*Result
	waiting map[string]chan struct{}
	workers []Presence
	open    map[string]Task // of an earlier session, without a result
}

// Open connects, claims the job of cfg.Dir, and takes in what an earlier session left
// in the farm. The error of a job that another coordinator plays is errOther.
func Open(ctx context.Context, cfg Config) (_ *Coordinator, err error) {
	if cfg.Log == nil {
		cfg.Log = func(string) {}
	}
	if cfg.Patience == 0 {
		cfg.Patience = defaultPatience
	}
	c := &Coordinator{cfg: cfg, known: map[string]*Result{}, waiting: map[string]chan struct{}{}, open: map[string]Task{}}
	c.running, c.stop = context.WithCancelCause(context.Background())
	defer func() {
		if err != nil {
			c.shutDown()
		}
	}()
	if c.lock, err = LockDir(cfg.Dir); err != nil {
		return nil, err
	}
	job, isNew, err := jobIn(cfg.Dir)
	if err != nil {
		return nil, err
	}
	c.job, c.resumed = job, !isNew
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	if c.cfg.Serve && c.resumed { // whoever had the claim had this server in its process
		if err := c.stores.claims.Purge(ctx, c.job); err != nil {
			return nil, fmt.Errorf("claim the job: %w", err)
		}
	}
	revision, err := c.claim(ctx)
	if err != nil {
		return nil, fmt.Errorf("claim the job in %s: %w", cfg.Dir, err)
	}
	c.tasks.Go(func() { c.keepClaim(c.running, revision, c.stop) })
	if err := c.announce(ctx); err != nil {
		return nil, err
	}
	if err := c.followResults(ctx); err != nil {
		return nil, err
	}
	c.tasks.Go(func() { c.watchWorkers(c.running) })
	return c, nil
}

// connect starts the server where it is the coordinator's own, and connects.
func (c *Coordinator) connect(ctx context.Context) (err error) {
	a, dir := c.cfg.Access, ""
	if c.cfg.Serve {
		dir = filepath.Join(c.cfg.Dir, folder)
	}
	if c.hub, err = OpenHub(a, dir, c.cfg.MaxStore, "torture coordinator "+c.job, c.cfg.Log); err != nil {
		return err
	}
	js, err := jetstream.New(c.hub.Conn)
	if err != nil {
		return err
	}
	if c.stores, err = openStores(ctx, js); err != nil {
		return fmt.Errorf("NATS at %s: %w", a, err)
	}
	return nil
}

// announce tells workers of the job.
func (c *Coordinator) announce(ctx context.Context) error {
	raw, err := json.Marshal(Announcement{c.cfg.Build, c.cfg.About})
	if err == nil {
		_, err = c.stores.jobs.Put(ctx, c.job, raw)
	}
	if err != nil {
		return fmt.Errorf("announce the job: %w", err)
	}
	return nil
}

// followResults subscribes to the results of the job, those of earlier coordinators first, and
// finds the tasks that are still open.
func (c *Coordinator) followResults(ctx context.Context) error {
	consumer, err := c.stores.js.OrderedConsumer(ctx, resultsStream, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{resultPrefix + c.job + ".*"}, DeliverPolicy: jetstream.DeliverAllPolicy,
	})
	if err != nil {
		return fmt.Errorf("follow the results: %w", err)
	}
	there, err := subjects(ctx, c.stores.results, resultPrefix+c.job+".*")
	if err != nil {
		return fmt.Errorf("follow the results: %w", err)
	}
	if c.consume, err = consumer.Consume(c.result); err != nil {
		return fmt.Errorf("follow the results: %w", err)
	}
	for c.have() < len(there) {
		if !periodic.Sleep(ctx, 10*time.Millisecond) {
			return ctx.Err()
		}
	}
	queued, err := subjects(ctx, c.stores.tasks, taskPrefix+"*.*."+c.job+".*")
	if err != nil {
		return fmt.Errorf("look for open tasks: %w", err)
	}
	for _, subject := range queued {
		m, err := c.stores.tasks.GetLastMsgForSubject(ctx, subject)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue // acknowledged meanwhile
		}
		var t Task
		if err == nil {
			err = json.Unmarshal(m.Data, &t)
		}
		if err != nil {
			return fmt.Errorf("look for open tasks: %w", err)
		}
		c.mu.Lock()
		if c.known[t.ID] == nil {
			c.open[t.ID] = t
		}
		c.mu.Unlock()
	}
	return nil
}

// subjects are those of a stream's messages that match a filter.
func subjects(ctx context.Context, s jetstream.Stream, filter string) ([]string, error) {
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(filter))
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(info.State.Subjects)), nil
}

// result takes in one result.
func (c *Coordinator) result(m jetstream.Msg) {
	var r Result
	if json.Unmarshal(m.Data(), &r) != nil {
		r.Trouble = "a result that cannot be read"
	}
	r.Task.ID = m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:]
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[r.Task.ID] != nil {
		return
	}
	c.known[r.Task.ID] = &r
	delete(c.open, r.Task.ID)
	if done := c.waiting[r.Task.ID]; done != nil {
		close(done)
		delete(c.waiting, r.Task.ID)
	}
}

func (c *Coordinator) have() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.known)
}

// Results are the results so far, by their tasks' ids in order.
func (c *Coordinator) Results() []Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Result, 0, len(c.known))
	for _, id := range slices.Sorted(maps.Keys(c.known)) {
		all = append(all, *c.known[id])
	}
	return all
}

// Pending are the tasks of earlier sessions that have no result yet, by their ids in
// order. They are still queued: Do waits for them.
func (c *Coordinator) Pending() []Task {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Task, 0, len(c.open))
	for _, id := range slices.Sorted(maps.Keys(c.open)) {
		all = append(all, c.open[id])
	}
	return all
}

// Do has a task played and returns its result: at once, where an earlier session has
// it. When ctx ends first the task is called off.
func (c *Coordinator) Do(ctx context.Context, t Task) (Result, error) {
	t.Job = c.job
	c.mu.Lock()
	r, done := c.known[t.ID], c.waiting[t.ID]
	if r == nil && done == nil {
		done = make(chan struct{})
		c.waiting[t.ID] = done
	}
	c.mu.Unlock()
	if r != nil {
		return *r, nil
	}
	if err := c.publish(ctx, t); err != nil {
		return Result{}, err
	}
	select {
	case <-done:
	case <-ctx.Done():
		c.callOff(t)
		return Result{}, ctx.Err()
	case <-c.running.Done():
		return Result{}, context.Cause(c.running)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return *c.known[t.ID], nil
}

// publish queues a task, once: that it is there already is as good.
func (c *Coordinator) publish(ctx context.Context, t Task) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("queue a task: %w", err)
	}
	return untilTaken(ctx, c.cfg.Patience, c.cfg.Log, "queue a task", func(ctx context.Context) error {
		if c.running.Err() != nil {
			return backoff.Permanent(context.Cause(c.running))
		}
		_, err := c.stores.js.Publish(ctx, taskSubject(c.cfg.Build, t), raw, jetstream.WithExpectLastSequencePerSubject(0))
		return err
	})
}

// callOff takes a task out of the queue and tells the worker that plays it.
func (c *Coordinator) callOff(t Task) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.running), 5*time.Second)
	defer cancel()
	// A task that could not be taken out is played, and its result is nobody's.
	_ = c.unqueue(ctx, taskSubject(c.cfg.Build, t))
	_ = c.hub.Conn.Publish(offSubject(t), nil)
}

// unqueue takes the task of a subject out of the queue, if it is there. It deletes the
// one message and purges no subject: purging one moves the acknowledgement floor of the
// queue's consumer over all that was delivered before, and tasks below the floor are
// never delivered again (consumer.purge and checkPending of nats-server 2.15).
func (c *Coordinator) unqueue(ctx context.Context, subject string) error {
	m, err := c.stores.tasks.GetLastMsgForSubject(ctx, subject)
	if err == nil {
		if err = c.stores.tasks.DeleteMsg(ctx, m.Sequence); errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
			_, err = c.stores.tasks.GetMsg(ctx, m.Sequence) // acknowledged meanwhile, or it cannot be deleted
			if err == nil {
				err = jetstream.ErrMsgDeleteUnsuccessful
			}
		}
	}
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	return err
}

// unqueueAll takes all tasks of the job out of the queue.
func (c *Coordinator) unqueueAll(ctx context.Context) error {
	queued, err := subjects(ctx, c.stores.tasks, taskPrefix+"*.*."+c.job+".*")
	for _, subject := range queued {
		err = errors.Join(err, c.unqueue(ctx, subject))
	}
	return err
}

// Forget takes open tasks of earlier sessions out of the queue: nobody waits for them
// any more.
func (c *Coordinator) Forget(ctx context.Context, of func(Task) bool) error {
	for _, t := range c.Pending() {
		if !of(t) {
			continue
		}
		if err := c.unqueue(ctx, taskSubject(c.cfg.Build, t)); err != nil {
			return fmt.Errorf("forget an open task: %w", err)
		}
		c.mu.Lock()
		delete(c.open, t.ID)
		c.mu.Unlock()
	}
	return nil
}

// Fetch makes a directory of a result's record.
func (c *Coordinator) Fetch(ctx context.Context, r Result, dir string) error {
	return getRecord(ctx, c.stores.records, r.Record, dir)
}

// Workers are those of this build that were there a moment ago.
func (c *Coordinator) Workers() []Presence {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.workers
}

// watchWorkers looks from time to time who is there, until ctx ends.
func (c *Coordinator) watchWorkers(ctx context.Context) {
	for {
		all := c.present(ctx)
		c.mu.Lock()
		c.workers = all
		c.mu.Unlock()
		if !periodic.Sleep(ctx, time.Second) {
			return
		}
	}
}

func (c *Coordinator) present(ctx context.Context) (all []Presence) {
	keys, err := c.stores.workers.ListKeys(ctx)
	if err != nil {
		return nil // NATS is away: nobody is seen
	}
	for key := range keys.Keys() {
		var p Presence
		entry, err := c.stores.workers.Get(ctx, key)
		if err == nil && json.Unmarshal(entry.Value(), &p) == nil && p.Build == c.cfg.Build {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b Presence) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Close ends the coordinator. With done nothing of the job stays in the farm; without,
// a later session goes on.
func (c *Coordinator) Close(ctx context.Context, done bool) (err error) {
	if done {
		err = c.clear(ctx)
	}
	c.shutDown()
	if done && err == nil {
		err = errors.Join(os.RemoveAll(filepath.Join(c.cfg.Dir, folder)), os.Remove(filepath.Join(c.cfg.Dir, jobFile)), os.Remove(filepath.Join(c.cfg.Dir, "farm.lock")))
	}
	return err
}

// clear removes all of the job from the server.
func (c *Coordinator) clear(ctx context.Context) error {
	err := errors.Join(
		c.unqueueAll(ctx),
		c.stores.results.Purge(ctx, jetstream.WithPurgeSubject(resultPrefix+c.job+".*")),
		c.stores.jobs.Purge(ctx, c.job),
	)
	for _, r := range c.Results() {
		if r.Record == "" {
			continue
		}
		if gone := c.stores.records.Delete(ctx, r.Record); !errors.Is(gone, jetstream.ErrObjectNotFound) {
			err = errors.Join(err, gone)
		}
	}
	if err != nil {
		return fmt.Errorf("clear the job out of the farm: %w", err)
	}
	return nil
}

// shutDown ends what the coordinator started, in the reverse order, and gives its
// claim back.
func (c *Coordinator) shutDown() {
	c.stop(errors.New("the coordinator was closed"))
	c.tasks.Wait()
	if c.consume != nil {
		c.consume.Stop()
		if c.stores.claims != nil && !errors.Is(context.Cause(c.running), errOther) {
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
			_ = c.stores.claims.Purge(ctx, c.job) // else it runs out by itself
			cancel()
		}
	}
	if c.hub != nil {
		c.hub.Close()
	}
	if c.lock != nil {
		_ = c.lock.Close() // which unlocks it
	}
}

// Words say which workers are there.
func Words(all []Presence) string {
	if len(all) == 0 {
		return "no worker is there (torture worker --join URL)"
	}
	words := make([]string, len(all))
	for i, p := range all {
		words[i] = fmt.Sprintf("%s %d/%d", p.Name, p.Playing, p.Slots)
	}
	return fmt.Sprintf("%s: %s", unit.Counted(len(all), "worker"), strings.Join(words, ", "))
}
