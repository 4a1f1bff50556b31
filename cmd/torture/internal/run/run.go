// Package run plays a resolved scenario against one lock, and judges it.
package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/catalogue"
	"locktorture/cmd/torture/internal/config"
	"locktorture/cmd/torture/internal/crash"
	"locktorture/cmd/torture/internal/kernel"
	"locktorture/faults/link"
	"locktorture/faults/plan"
	"locktorture/faults/resolve"
	"locktorture/faults/watch"
	"locktorture/lockimpl/child"
	"locktorture/reports"
	"locktorture/workload"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
	"locktorture/workload/history/printable"
)

// PlanFile holds the fault schedule as drawn.
const PlanFile = "plan.json"

// startLimit bounds the start of the testbed and of the links.
const startLimit = 60 * time.Second

// Options are what a run needs besides its scenario.
type Options struct {
	Version, Commit string
	Argv            []string
	Again           string         // the command that plays the same again; empty: torture replay
	Crash           *crash.Monitor // finishes the run when this process crashes; nil: nobody does

	// Begin is called once, when everything stands and before the load: with
	// what is about to happen, and the judge whose live figures may be shown.
	// The sinks that it returns see every event.
	Begin func(b Beginning) []history.Sink

	// Keep says, of a run that is one among very many, whether its record is worth
	// keeping: reports are written, and its directory stays, only then. It is asked
	// once the run is judged, without a second opinion. Nil keeps every run.
	Keep func(r *reports.Run) bool

	// Pace is how long messages travel on links of this process, by the run's seed; nil: as long
	// as they do.
	Pace *link.Pace

	// Workers have the run's clients; nil: this process has them.
	Workers *Workers
}

// A Beginning is what is known of a run before its load.
type Beginning struct {
	Meta   reports.Meta
	Header history.Header
	Lock   catalogue.Lock
	Dir    string
	Why    string // this testbed
	Plan   plan.Plan
	Judge  *checker.Judge // for its live figures; nil: the run is judged when it is over
}

// A session is one run under way.
type session struct {
	env    *environment
	remote *remoteDriver // drives the clients that live at workers; nil: they live here
	dir    string
	meta   reports.Meta
	plan   plan.Plan
	watch  *watch.Observer
	judge  *checker.Judge
	file   *historyfile.File
	path   string // of file
	rec    *history.Recorder

	header  history.Header
	judging checker.Options

	resolver *resolve.Resolver

	net      kernel.Tracking
	watchdog *watchdog
	mishaps  []incident
	disk     string // what was said of a disk that takes nothing more; "" is nothing
	ended    bool   // the history has had its last event

	harness     []string // trouble of our own
	hung        int      // of these, children that hung in a request until they were killed
	canary      *reports.Canary
	interrupted bool
}

// Run plays cfg against lock and judges it. A run that ctx interrupts is healed, judged and
// reported all the same. Failures of the harness, from the start of the servers on, are in the
// run's report, as harness errors. The error is for a wrong choice of the user, for given
// servers that cannot be used, for a start that ctx interrupted or that left no record, and,
// with o.Keep, for any run that never began.
func Run(ctx context.Context, cfg config.Config, lock catalogue.Lock, o Options) (_ *reports.Run, err error) {
	if err := Validate(cfg, lock); err != nil {
		return nil, err
	}
	if o.Workers != nil {
		if err := FitsWorkers(cfg, lock, o.Workers.Count); err != nil {
			return nil, err
		}
	}
	s := &session{meta: meta(cfg, o), watch: watch.New(), net: kernel.BeginTracking(kernel.Proc)}
	discard, err := PrepareOut(cfg.Out)
	if err != nil {
		return nil, err
	}
	defer discard()
	if s.dir, err = makeDir(cfg, s.meta); err != nil {
		return nil, err
	}
	start, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	s.env = newEnvironment(cfg, lock)
	s.env.pace = o.Pace
	if err := s.env.setUp(start, s.dir, o.Workers != nil); err != nil {
		if untracked := s.net.Look(ctx); untracked != nil {
			return s.unbegun(ctx, o, StartError{fmt.Errorf("%w: %v", untracked, err)}) // whatever else it seems to be
		}
		return s.unbegun(ctx, o, startError(cfg, err))
	}
	cfg = s.demandPossible(cfg)
	if o.Workers != nil {
		if s.remote, err = gather(ctx, s.env, o.Workers, s.dir, s.env.header(s.meta)); err != nil {
			return s.unbegun(ctx, o, StartError{err})
		}
		s.env.drive = s.remote
		s.meta.Workers = s.remote.described()
	}
	if s.plan, err = drawPlan(cfg, lock, s.env.target(s.watch)); err != nil {
		return s.unbegun(ctx, o, err)
	}
	if err := s.prepare(ctx, o); err != nil {
		return s.unbegun(ctx, o, StartError{err})
	}
	unwatched, err := o.Crash.Watch(s.dir, cfg.Secrets())
	s.noteTrouble(err)
	s.play(ctx)
	if unwatched != nil {
		s.noteTrouble(unwatched())
	}
	return s.finish(ctx, o.Keep)
}

// meta is what run.json says. What is secret by its form is hidden in it, and so
// in everything that is made of it.
func meta(cfg config.Config, o Options) reports.Meta {
	return reports.Meta{
		Version: o.Version, Commit: o.Commit, Argv: printable.HideSecrets(o.Argv), Again: o.Again, Scenario: filepath.Base(cfg.Scenario),
		Lock:   catalogue.HideSecrets(cfg.Lock),
		Config: resolved(cfg), Seed: cfg.Seed, Clients: cfg.Clients, Keys: cfg.Load.Keys, Load: cfg.Load.String(),
		Planned: cfg.Duration + cfg.FinalPhase(), SLO: cfg.SLO, Host: reports.ThisHost(), Began: time.Now(),
	}
}

// resolved is cfg, with every default filled in, as run.json has it.
func resolved(cfg config.Config) json.RawMessage {
	cfg.Lock = catalogue.HideSecrets(cfg.Lock)
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil // a Config is plain data: it always marshals
	}
	return text
}

// demandPossible takes from a scenario's demands what the lock cannot show. Stale writes that the
// fence rejects there are only in a fenced store, of clients that write whatever they know of their
// lease; operations of unknown outcome only where no library may find out, or undo, what became of
// a request that was not answered.
func (s *session) demandPossible(cfg config.Config) config.Config {
	_, child := s.env.probe.(childLocker)
	saves := ""
	if child {
		saves = "a lock in a process of its own may stop writing when its lease has ended, so no stale write that the fence rejects is demanded"
	}
	if !fenced(cfg, s.env.lock) {
		saves = "without a fence no stale write can be rejected, so none is demanded: a client that stands still beyond its lease shows as S3z"
	}
	cfg = s.demandNo("fence_saves", saves, cfg)
	if child {
		cfg = s.demandNo("unknown", "a lock in a process of its own may find out what became of a request that was not answered, so no operation of unknown outcome is demanded", cfg)
	}
	return cfg
}

// demandNo takes a floor from what the scenario demands, and says why; "" leaves it.
func (s *session) demandNo(floor, why string, cfg config.Config) config.Config {
	less, had := cfg.WithoutFloor(floor)
	if why == "" || !had {
		return cfg
	}
	s.env.cfg, s.meta.Config = less, resolved(less)
	s.env.find(why)
	return less
}

// makeDir makes the run's own directory; a second run of the same second and
// seed gets a number.
func makeDir(cfg config.Config, m reports.Meta) (string, error) {
	base := filepath.Join(cfg.Out, reports.DirName(m))
	for n := 1; ; n++ {
		dir := base
		if n > 1 {
			dir = fmt.Sprintf("%s-%d", base, n)
		}
		err := os.Mkdir(dir, 0o700) // a command line or an address may be in it
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, os.ErrExist) {
			return "", outError(cfg.Out, err)
		}
	}
}

// prepare writes what is known before the run, and opens the history with all its observers.
func (s *session) prepare(ctx context.Context, o Options) (err error) {
	s.meta.Asked, s.meta.Faults = s.plan.Asked, len(s.plan.Steps)
	s.meta.Testbed, s.meta.Can = s.env.describe(s.plan), s.env.abilities(s.plan)
	s.env.cfg.DemandCells(promised(s.plan, *s.meta.Can))
	if err := s.writePlan(); err != nil {
		return err
	}
	if o.Keep == nil { // one of very many is not the one that people look for
		if err := reports.Link(s.dir); err != nil {
			return err
		}
	}
	s.head(o)
	h := s.header
	s.path = filepath.Join(s.dir, historyfile.Name)
	if s.remote != nil { // whose history is judged when all are in
		s.path = filepath.Join(s.dir, WorkersDir, coordinatorHost+".jsonl.zst")
	} else {
		s.judge = checker.New(h, s.judging)
	}
	if s.file, err = historyfile.Create(s.path, h); err != nil {
		return err
	}
	s.resolver = s.env.resolver(h)
	watching := []history.Sink{s.watch}
	if s.judge != nil {
		watching = append(watching, s.judge)
	}
	if o.Begin != nil {
		watching = append(watching, o.Begin(Beginning{s.meta, h, s.env.lock, s.dir, s.env.why, s.plan, s.judge})...)
	}
	if s.remote != nil {
		l := &onlookers{sinks: watching}
		s.rec = history.NewRecorder(s.file, l)
		err = s.remote.begin(ctx, s.rec, l, h, s.watch.Forget)
	} else {
		s.rec = history.NewRecorder(append([]history.Sink{s.file, &s.env.acquires, s.resolver}, watching...)...)
	}
	s.env.ledger = workload.NewLedger(s.rec, s.env.policy())
	return err
}

// head is the header of the history, and how it is judged.
func (s *session) head(o Options) {
	s.header, s.judging = s.env.header(s.meta), judging
	s.judging.OurStore, s.judging.SecondOpinion = true, o.Keep == nil
}

// close ends all that the run stands on.
func (s *session) close() error {
	err := s.env.close()
	if s.remote != nil {
		err = errors.Join(err, s.remote.close())
	}
	return err
}

func (s *session) writePlan() error {
	if err := reports.WriteMeta(s.dir, s.meta); err != nil {
		return err
	}
	text, err := json.MarshalIndent(s.plan, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", PlanFile, err)
	}
	return os.WriteFile(filepath.Join(s.dir, PlanFile), append(text, '\n'), 0o600)
}

// noteTrouble notes trouble of our own; nil is none.
func (s *session) noteTrouble(err error) {
	if err == nil {
		return
	}
	if panics := panicsIn(err); len(panics) > 0 {
		s.panicked(panics)
		return
	}
	s.harness = append(s.harness, history.OneLine(err.Error()))
	if isHanging(err) {
		s.hung++
	}
	if diskFailed(err) && s.disk == "" {
		s.disk = history.OneLine(err.Error())
	}
	if !s.ended {
		s.record(incident{err: err})
	}
}

// isHanging reports whether an error says of children that they hung, and nothing else.
func isHanging(err error) bool {
	if joined, is := err.(interface{ Unwrap() []error }); is {
		return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !isHanging(err) })
	}
	return errors.As(err, new(*child.HungError))
}

// troubles lists what went wrong, the causes first, since the rest mostly follows from them. A
// failed disk comes before all else: servers that cannot write their files end. So do lost
// packets: to whoever waits for them, servers are silent.
func (s *session) troubles() (all []string) {
	if s.disk != "" {
		all = append(all, s.disk)
	}
	for _, m := range s.mishaps {
		if errors.As(m.err, new(*kernel.UntrackedError)) {
			all = append(all, history.OneLine(m.err.Error()))
		}
	}
	for _, m := range s.mishaps {
		if text := history.OneLine(m.err.Error()); !m.lock && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	for _, text := range s.harness {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}
