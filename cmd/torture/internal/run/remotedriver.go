package run

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/distributed"
	"locktorture/faults"
	"locktorture/faults/testbed"
	"locktorture/workload"
	"locktorture/workload/history"
)

// WorkersDir, in a run directory, holds the histories of the workers as they came in,
// and the coordinator's own.
const WorkersDir = "workers"

// coordinatorHost is whose clock stamps what the coordinator records, and all other times
// are turned into.
const coordinatorHost = "coordinator"

// Workers is how a run gets workers for its clients.
type Workers struct {
	Count int
	Open  func(ctx context.Context, dir string) (*distributed.Coordinator, error) // dir is for the histories that come in
	Leave func()                                                                  // ends what else there is for the workers
}

// A remoteDriver drives the clients of a run that live at workers.
type remoteDriver struct {
	coordinator *distributed.Coordinator
	cfg         config.Config
	leave       func()
	lock        *os.File // on the folder of the workers' histories, until they are merged
	shares      []*distributed.Remote
	names       [][]string // of their clients
	remotes     []faults.Client
	at          map[string]*distributed.Remote // by client
	numbers     atomic.Uint64                  // of impairments
	live        *onlookers
	late        []*lateness // of the events of each worker
	rec         *history.Recorder
	forget      func(gone func(owner string) bool)
	ended       time.Duration // when all histories were taken in

	mu        sync.Mutex
	lostNoted map[string]bool // workers that are lost, and of which the history was told
	troubles  []string
	findings  []string
}

// gather waits for workers and gives each its share of the clients: as many as any
// other, or one more.
func gather(ctx context.Context, e *environment, w *Workers, dir string, h history.Header) (_ *remoteDriver, err error) {
	if kind := e.bed.Name(); !slices.Contains(fitForWorkers, kind) {
		return nil, fmt.Errorf("testbed %s: workers reach servers of testbed %s alone", kind, strings.Join(fitForWorkers, ", "))
	}
	dir = filepath.Join(dir, WorkersDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	a := &remoteDriver{cfg: e.cfg, leave: w.Leave, at: map[string]*distributed.Remote{}, lostNoted: map[string]bool{}}
	if a.lock, err = distributed.Lock(dir); err != nil {
		return nil, err
	}
	if a.coordinator, err = w.Open(ctx, dir); err != nil {
		return nil, errors.Join(err, a.lock.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	s := share{Config: e.cfg, Private: e.cfg.Secrets(), Header: h}
	if e.bed.Name() != testbed.KindExternal {
		for _, n := range e.bed.Nodes() {
			s.Nodes = append(s.Nodes, n.Addr())
		}
		s.Store = e.bed.Store().Addr()
	}
	all, count := clientNames(e.cfg.Clients), w.Count
	err = a.coordinator.Gather(ctx, count, func(i int, o distributed.Offer) (any, error) {
		if err := reaches(o, s.Nodes); err != nil {
			return nil, err
		}
		s.First = i * len(all) / count
		s.Clients = all[s.First : (i+1)*len(all)/count]
		return s, nil
	})
	if err != nil {
		return a, err
	}
	a.shares = a.coordinator.Remotes()
	for i, r := range a.shares {
		names := all[i*len(all)/count : (i+1)*len(all)/count]
		a.names = append(a.names, names)
		a.late = append(a.late, newLateness())
		for _, name := range names {
			a.at[name] = r
			a.remotes = append(a.remotes, &remoteClient{name: name, at: r})
		}
	}
	return a, nil
}

// reaches refuses a worker on another machine where the servers are on this one's
// loopback.
func reaches(o distributed.Offer, addrs []string) error {
	here, err := os.Hostname()
	if err != nil || o.Host == here {
		return err
	}
	for _, addr := range addrs {
		if name, _, err := net.SplitHostPort(addr); err == nil && net.ParseIP(name).IsLoopback() {
			return fmt.Errorf("worker %s is on %s, from where nobody reaches a server at %s: start servers that all machines reach, and name them with --redis", o.Name, o.Host, addr)
		}
	}
	return nil
}

// begin starts to receive the workers' events.
func (a *remoteDriver) begin(ctx context.Context, rec *history.Recorder, l *onlookers, h history.Header, forget func(func(string) bool)) error {
	a.rec, a.live, a.forget = rec, l, forget
	return a.coordinator.Begin(ctx, rec.Began(), h, func(r *distributed.Remote, e *history.Event) {
		i := slices.Index(a.shares, r)
		a.late[i].note(rec.Since(time.Now()) - e.Time)
		e.Host = r.Name
		if e.Process >= 0 {
			e.Process = e.Process*(len(a.shares)+1) + i + 1
		}
		l.fromAfar(e)
	})
}

// beatLead is how long before the begin of a phase the workers are told when it begins.
const beatLead = 500 * time.Millisecond

// phase implements driver.
func (a *remoteDriver) phase(ctx context.Context, name string, cfg workload.Config, rec *history.Recorder) error {
	beat := rec.Since(time.Now()) + beatLead
	asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { a.each(func(r *distributed.Remote) error { return r.Ask(asking, askStop, nil, nil) }) })()
	var began sync.Once
	begin := func() { began.Do(func() { rec.Append(workload.PhaseBegins(name)) }) }
	onBeat := time.AfterFunc(beat-rec.Since(time.Now()), begin)
	defer onBeat.Stop()
	var mu sync.Mutex
	var sum workload.Summary
	err := a.each(func(r *distributed.Remote) error {
		var s workload.Summary
		err := r.Ask(asking, askPhase, phaseOrder{name, r.ClockAt(beat)}, &s)
		mu.Lock()
		defer mu.Unlock()
		sum = sum.And(s)
		return err
	})
	begin() // it may have ended before
	a.coordinator.AwaitDelivery(ctx)
	rec.Append(sum.Event(name))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// each calls a function for every worker that is not lost, for all at once. That a worker is
// lost, or gets lost meanwhile, is recorded in the history and is no error.
func (a *remoteDriver) each(do func(r *distributed.Remote) error) error {
	errs := make([]error, len(a.shares))
	var all sync.WaitGroup
	for i, r := range a.shares {
		all.Go(func() {
			if errs[i] = do(r); errors.Is(errs[i], distributed.ErrLost) {
				errs[i] = nil
				a.noteLost(i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// noteLost records, once, that a worker is lost, and has its clients forgotten.
func (a *remoteDriver) noteLost(i int) {
	r := a.shares[i]
	a.mu.Lock()
	known := a.lostNoted[r.Name]
	a.lostNoted[r.Name] = true
	a.mu.Unlock()
	if known {
		return
	}
	a.rec.Append(history.Event{
		Process: history.Nemesis, Kind: history.OK, Op: history.Phase,
		Note: fmt.Sprintf("worker %s is lost with %s: %s", r.Name, strings.Join(a.names[i], ", "), r.Lost()),
	})
	a.forget(func(owner string) bool {
		client, _, _ := strings.Cut(owner, ".")
		return slices.Contains(a.names[i], client)
	})
}

// clients implements driver.
func (a *remoteDriver) clients() []faults.Client { return a.remotes }

// healRemote bounds what is asked of workers at the end.
const healRemote = 30 * time.Second

// heal implements driver.
func (a *remoteDriver) heal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healRemote)
	defer cancel()
	return a.each(func(r *distributed.Remote) error { return r.Ask(ctx, askReset, nil, nil) })
}

// disconnect implements driver: it ends the clients, and receives everything that was recorded.
func (a *remoteDriver) disconnect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err := a.each(func(r *distributed.Remote) error {
		var f finished
		err := r.Ask(ctx, askFinish, nil, &f)
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, t := range f.Troubles {
			a.troubles = append(a.troubles, "worker "+r.Name+": "+t)
		}
		a.findings = append(a.findings, f.Findings...)
		if f.Unsent {
			r.Forgo()
		}
		return err
	})
	if err := errors.Join(err, a.coordinator.Await(ctx)); err != nil {
		return fmt.Errorf("take the workers' histories in: %w", err)
	}
	a.ended = a.rec.Since(time.Now())
	for i, r := range a.shares {
		if r.Lost() != "" {
			a.noteLost(i)
		}
		if err := r.Err(); err != nil {
			return err
		}
	}
	var errs []error
	for _, t := range a.troubles {
		errs = append(errs, errors.New(t))
	}
	return errors.Join(errs...)
}

func (a *remoteDriver) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), healRemote)
	defer cancel()
	err := a.coordinator.Close(ctx)
	if a.leave != nil {
		a.leave()
	}
	return err
}

// onlookers hand events to those who watch a run while it goes on: the coordinator's, and
// the workers' as they come.
type onlookers struct {
	mu    sync.Mutex
	sinks []history.Sink
	next  int
}

// remoteIndices is where the indices begin under which the workers' events are seen
// while the run goes on.
const remoteIndices = 1 << 40

// Event implements history.Sink.
func (l *onlookers) Event(e *history.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.sinks {
		s.Event(e)
	}
}

func (l *onlookers) fromAfar(e *history.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Index = remoteIndices + l.next
	l.next++
	for _, s := range l.sinks {
		s.Event(e)
	}
}

// A lateness is how old events are when they arrive.
type lateness struct {
	mu sync.Mutex
	*hdrhistogram.Histogram
}

func newLateness() *lateness {
	return &lateness{Histogram: hdrhistogram.New(1, int64(time.Hour), 2)}
}

func (l *lateness) note(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.RecordValue(int64(min(max(d, 1), time.Hour))) // it is within the range
}

// at returns a bound that a share of the events, in percent, did not exceed.
func (l *lateness) at(percent float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Duration(l.ValueAtQuantile(percent))
}
