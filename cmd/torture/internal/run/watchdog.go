package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"locktorture/cmd/torture/internal/kernel"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
	"locktorture/lockimpl/child"
	"locktorture/workload"
	"locktorture/workload/history"
)

const (
	watchEvery = 100 * time.Millisecond // between two looks at everything that a run stands on
	proxyEvery = 500 * time.Millisecond // between two questions to a toxiproxy server of its own
	lookLimit  = 5 * time.Second        // bounds one look

	// diskLimit is how long the disk may take one batch of the history. A disk
	// that is merely busy writes the megabyte sooner.
	diskLimit = 10 * time.Second
)

// A incident is something that befell the run from outside: nothing that comes
// after it says anything about the lock.
type incident struct {
	err  error
	from time.Time // the last look that found all well
	lock bool      // the lock's process broke down by itself: its own doing
}

// A watchdog looks at what the run stands on (nodes, store, links, children, the
// writer of the history, the kernel's table of connections) and ends the run when any of it fails by other hands
// than the run's.
type watchdog struct {
	env  *environment
	file historyWriter
	path string // of the file; "" is not looked at
	net  kernel.Tracking
	note func(incident)
	stop context.CancelCauseFunc

	mu      sync.Mutex
	mishaps []incident
	known   map[string]bool // by the thing that they befell, or by what they say where that names it
	running sync.WaitGroup
	end     context.CancelFunc
}

// A historyWriter writes the history behind the recorder's back: a
// historyfile.File.
type historyWriter interface {
	Err() error             // the first that it met
	Stalled() time.Duration // for how long the disk has been taking the present batch
	GiveUp(why error)       // nothing more is written
}

// errMishap is the cause of a run that the watchdog has ended.
var errMishap = errors.New("the run was ended by what befell it")

// guardRun starts the watchdog of a run. The context that it returns ends with the
// run's first mishap.
func (s *session) guardRun(ctx context.Context) context.Context {
	guarded, stop := context.WithCancelCause(ctx)
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	w := &watchdog{env: s.env, file: s.file, path: s.path, net: s.net, note: s.record, stop: stop, end: end, known: map[string]bool{}}
	s.watchdog = w
	w.running.Go(func() {
		workload.WatchStalls(watching, s.rec, workload.StallThreshold(s.env.cfg.TTL), s.env.childPids)
	})
	for _, look := range w.looks() {
		w.running.Go(func() { w.repeat(watching, look) })
	}
	return guarded
}

// A look returns what is wrong with one thing; nil is nothing.
type look struct {
	thing string // "" looks at several, each of which its errors name
	every time.Duration
	at    func(ctx context.Context) error
}

// looks are at one thing each, since any may keep its asker waiting.
func (w *watchdog) looks() []look {
	all := []look{{"history", watchEvery, w.disk}, {"", watchEvery, w.children}, {"connections", watchEvery, w.net.Look}}
	if w.env.cfg.Proxy != "" {
		all = append(all, look{"toxiproxy", proxyEvery, func(ctx context.Context) error { return link.Check(ctx, w.env.fabric) }})
	}
	for _, n := range append(w.env.bed.Nodes(), w.env.bed.Store()) {
		if watched, can := n.(testbed.Watched); can {
			all = append(all, look{"node " + n.Name(), watchEvery, watched.Unplanned})
		}
	}
	return all
}

// repeat looks again and again, once more when it is told to end.
func (w *watchdog) repeat(ctx context.Context, l look) {
	tick := time.NewTicker(l.every)
	defer tick.Stop()
	well := time.Now()
	for ended := false; !ended; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			ended = true
			time.Sleep(testbed.LookEvery) // so that the last look is a new one
		}
		began := time.Now()
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookLimit)
		err := l.at(bounded)
		cancel()
		if err == nil {
			well = began
			continue
		}
		w.report(cmp.Or(l.thing, err.Error()), err, well)
	}
}

// report notes a mishap once, and ends the run. What befell one thing goes by
// one key: a server that has died fails every look in other words.
func (w *watchdog) report(key string, err error, well time.Time) {
	var death *child.DeathError
	m := incident{err: err, from: well, lock: errors.As(err, &death) && !death.Kill}
	w.mu.Lock()
	known := w.known[key]
	w.known[key] = true
	if !known {
		w.mishaps = append(w.mishaps, m)
	}
	w.mu.Unlock()
	if !known {
		w.note(m)
	}
	w.stop(errMishap)
}

// close takes a last look and returns all that befell the run.
func (w *watchdog) close() []incident {
	w.end()
	w.running.Wait()
	w.stop(nil)
	return w.mishaps
}

// disk looks at the writer of the history.
func (w *watchdog) disk(context.Context) error {
	if err := w.file.Err(); err != nil {
		return err
	}
	if stalled := w.file.Stalled(); stalled > diskLimit {
		err := fmt.Errorf("write history: the disk has been taking one batch for %s", stalled.Round(time.Second))
		w.file.GiveUp(err)
		return err
	}
	if w.path == "" {
		return nil
	}
	if _, err := os.Stat(w.path); err != nil { // what is written to a file without a name is lost with it
		err = fmt.Errorf("write history: it is not where it was begun any more: %w", err)
		w.file.GiveUp(err)
		return err
	}
	return nil
}

// children looks at the processes in which the lock lives.
func (w *watchdog) children(context.Context) error {
	for _, c := range w.env.clients {
		for _, p := range c.processes() {
			if death := p.Died(); death != nil {
				return fmt.Errorf("%s's child: %w", c.Client.Name, death)
			}
		}
	}
	return nil
}

// record tells the history of a mishap, so that whoever judges it later knows.
func (s *session) record(m incident) {
	e := history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Note: history.HarnessNote + history.OneLine(m.err.Error())}
	if m.lock {
		e.Note = history.LockNote + history.OneLine(m.err.Error())
	}
	if !m.from.IsZero() {
		e.Began, e.Has = max(s.rec.Since(m.from), 0), history.HasBegan
	}
	s.rec.Append(e)
}
