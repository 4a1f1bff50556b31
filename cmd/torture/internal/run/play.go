package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"locktorture/faults"
	"locktorture/reports"
	"locktorture/workload"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
	"locktorture/workload/store"
)

// closingLimit bounds what is left to do after an interruption: the audit log
// and the judging.
const closingLimit = time.Second

// play plays the phases: load with faults, everything healed, a healthy final phase, and then
// reads what store and nodes have.
//
// A harmful event from outside ends the run at once: see watchdog.
func (s *session) play(ctx context.Context) {
	user, cfg := ctx, s.env.cfg.Workload()
	ctx = s.guardRun(ctx)
	s.noteTrouble(s.noteCleanliness(ctx))
	if moments := s.env.cfg.Sometimes; len(moments) > 0 {
		s.note("sometimes " + strings.Join(moments, ", "))
	}
	s.plantCanary(ctx)
	stopSampling := s.startSampling(ctx)
	s.mainPhase(ctx, cfg)
	s.noteTrouble(s.heal(ctx))
	if ctx.Err() == nil && len(s.harness) == 0 {
		s.noteTrouble(unlessInterrupted(ctx, s.env.drive.phase(ctx, history.PhaseFinal, cfg, s.rec)))
	}
	stopSampling()
	if ctx.Err() == nil && len(s.harness) == 0 {
		s.leftovers(ctx, cfg)
	}
	s.interrupted = user.Err() != nil
	s.noteTrouble(s.audit(ctx))
	if s.interrupted {
		s.note("interrupted")
	}
	s.noteTrouble(s.env.drive.disconnect(context.WithoutCancel(ctx)))
	for _, e := range s.resolver.Resolve() {
		s.rec.Append(e)
	}
	s.mishaps = s.watchdog.close()
	s.ended = true
	s.rec.Append(history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Value: history.PhaseEnd})
}

// mainPhase plays load and nemesis side by side: the nemesis starts when every client is
// connected, which takes child processes seconds on a busy machine; before that a fault would
// affect nobody. When the load fails, the nemesis heals and stops, and vice versa.
func (s *session) mainPhase(ctx context.Context, cfg workload.Config) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	s.rec.Attach(history.SinkFunc(func(e *history.Event) {
		if e.Op == history.Phase && e.Value == history.PhaseMain {
			begin()
		}
	}))
	var wg sync.WaitGroup
	var loadErr, nemesisErr error
	wg.Go(func() {
		defer cancel()
		loadErr = s.env.drive.phase(ctx, history.PhaseMain, cfg, s.rec)
	})
	wg.Go(func() {
		select {
		case <-begun:
		case <-ctx.Done():
		}
		rng := stream(s.env.cfg.Seed, streamNemesis)
		if _, nemesisErr = faults.Run(ctx, s.plan.Steps, s.env.target(s.watch), s.rec, rng); nemesisErr != nil {
			cancel()
		}
	})
	wg.Wait()
	s.noteTrouble(unlessInterrupted(ctx, loadErr))
	if nemesisErr != nil {
		s.noteTrouble(fmt.Errorf("nemesis: %w", nemesisErr))
	}
}

// heal resets every link, whatever the nemesis has left.
func (s *session) heal(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := errors.Join(s.env.fabric.Reset(ctx), s.env.drive.heal(ctx)); err != nil {
		return fmt.Errorf("heal links: %w", err)
	}
	return nil
}

// leftovers looks at the nodes for keys that outlived their lease.
func (s *session) leftovers(ctx context.Context, cfg workload.Config) {
	var nodes []workload.Node
	keepers, err := s.env.keepers(ctx)
	if err != nil {
		s.noteTrouble(unlessInterrupted(ctx, fmt.Errorf("look for leftovers: %w", err)))
		return
	}
	for _, n := range keepers {
		nodes = append(nodes, n)
	}
	_, err = workload.Leftovers(ctx, cfg, s.env.probe, nodes, s.rec)
	var lacks *workload.LacksError
	if errors.As(err, &lacks) {
		s.note("leftovers not judged: " + lacks.Error())
		return
	}
	s.noteTrouble(unlessInterrupted(ctx, err))
}

// audit reads the store's own log, past every link.
func (s *session) audit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	direct := store.Open(s.env.bed.Store().Dial, s.env.policy()).Under(s.env.cfg.Prefix)
	err := workload.RecordAudit(ctx, direct, s.rec)
	if err != nil {
		err = fmt.Errorf("read the store's log: %w", err)
	}
	s.env.ledger.RecordAudit()
	return errors.Join(err, direct.Close())
}

func (s *session) note(text string) {
	s.rec.Append(history.Event{Process: history.Nemesis, Kind: history.OK, Op: history.Phase, Note: text})
}

// unlessInterrupted is err, or nil where err only says that ctx has ended.
func unlessInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.Cause(ctx)) || errors.Is(err, context.Canceled)) {
		return nil
	}
	return err
}

// finish ends the testbed, judges, and reports. The run directory is complete
// when it returns, or gone where keep wants nothing of it.
func (s *session) finish(ctx context.Context, keep func(*reports.Run) bool) (*reports.Run, error) {
	s.noteTrouble(s.rec.Err())
	s.noteTrouble(s.file.Close())
	s.noteTrouble(s.close())
	return s.report(ctx, keep)
}

// report judges what was recorded, and writes what there is to say of it.
func (s *session) report(ctx context.Context, keep func(*reports.Run) bool) (*reports.Run, error) {
	limit := judgingLimit
	if s.interrupted {
		limit = closingLimit
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	report, err := s.judged(ctx)
	s.noteTrouble(err)
	s.noteTrouble(WriteViews(filepath.Join(s.dir, ViewsDir), report.Views))
	r := &reports.Run{
		Dir: s.dir, Meta: s.meta, Report: report,
		Harness: s.troubles(), Interrupted: s.interrupted, Canary: s.canary,
	}
	r.Hung = s.hung > 0 && s.hung == len(r.Harness)
	r.Warnings = append(r.Warnings, s.env.findings...)
	if s.remote != nil {
		r.Meta.Workers = s.remote.described()
		r.Warnings = append(r.Warnings, s.remote.warnings()...)
		s.noteTrouble(reports.WriteMeta(s.dir, r.Meta))
	}
	for _, text := range s.plan.Omissions() {
		r.Warnings = append(r.Warnings, "left out: "+text)
	}
	if keep != nil && !keep(r) {
		return r, os.RemoveAll(s.dir)
	}
	return r, Complete(r)
}

// Complete computes the statistics of r's stored history, and writes every report.
func Complete(r *reports.Run) error {
	source, closer, err := historyfile.Open(r.Dir, nil)
	if err != nil {
		r.Lose(err)
		return err
	}
	err = errors.Join(r.Measure(source), closer.Close())
	r.Trouble(err)
	return errors.Join(err, reports.Write(r.Dir, r))
}
