package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/distributed"
	"locktorture/reports"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

// judged is what the judge says of the run: it has watched, or the histories of all
// workers are merged first.
func (s *session) judged(ctx context.Context) (checker.Report, error) {
	if s.afar == nil {
		return s.judge.Finish(ctx, false), nil
	}
	err := s.merge()
	return s.judge.Finish(ctx, false), err
}

// merge makes the run's history of those of coordinator and workers, and has it judged.
func (s *session) merge() (err error) {
	h := s.header
	h.Hosts = map[string]history.Host{coordinatorHost: {}}
	own, closer, err := historyfile.Open(s.path, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	sources := []distributed.Source{{Host: coordinatorHost, Events: own}}
	for i, r := range s.afar.shares {
		source, closer, err := s.afar.source(i)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closer.Close()) }()
		h.Hosts[r.Name] = history.Host{Epsilon: min(r.Clock().Epsilon, history.MaxTime)}
		sources = append(sources, source)
	}
	file, err := historyfile.Create(filepath.Join(s.dir, historyfile.Name), h)
	if err != nil {
		return err
	}
	s.judge = checker.New(h, s.judging)
	err = distributed.Merge(h, sources, func(e *history.Event) {
		file.Event(e)
		s.judge.Event(e)
	})
	return errors.Join(err, file.Close())
}

// source is the history of the i-th worker, by the coordinator's clock.
func (a *afar) source(i int) (distributed.Source, io.Closer, error) {
	r := a.shares[i]
	reader, closer, err := historyfile.Open(r.Path(), nil)
	s := distributed.Source{Host: r.Name, Events: reader, Clients: a.names[i]}
	if why := r.Lost(); why != "" && !r.Whole() {
		s.Lost = fmt.Sprintf("worker %s was, of which %s", r.Name, why)
	}
	clock := r.Clock()
	s.Time = clock.Coordinator
	return s, closer, err
}

// described says where each client runs, and what is known of that worker so far.
func (a *afar) described() (all []reports.Worker) {
	for i, r := range a.shares {
		w := reports.Worker{Name: r.Name, Host: r.Host, PID: r.PID, Clients: a.names[i], Lost: r.Lost(), Returned: r.Returned()}
		if a.rec != nil {
			clock := r.Clock()
			w.Events, w.Whole = r.Taken(), r.Whole()
			w.Epsilon, w.Offset, w.Drift, w.DriftOff, w.Stepped, w.Readings = clock.Epsilon, clock.Offset, clock.Drift, clock.Off, clock.Stepped, clock.Read
			w.Late50, w.Late99 = a.late[i].at(50), a.late[i].at(99)
		}
		all = append(all, w)
	}
	return all
}

// unsure is the share of a TTL beyond which a clock's bound leaves too little of a lease
// to be judged by time.
const unsure = 10

// warnings say what is odd of the workers.
func (a *afar) warnings() (all []string) {
	all = append(all, a.findings...)
	for _, w := range a.described() {
		apart := ""
		switch {
		case w.Stepped != 0:
			apart = fmt.Sprintf("its clock was moved by %v while the run went on", shown(w.Stepped))
		case w.Epsilon > a.cfg.TTL/unsure:
			apart = fmt.Sprintf("its clock is known to %v only, more than a tenth of the TTL", shown(w.Epsilon))
		}
		if apart != "" {
			all = append(all, fmt.Sprintf("INCONCLUSIVE by time: what clients of worker %s did and what those of others did is not compared by time: %s. Tokens, writes and the store's log are judged as ever", w.Name, apart))
		}
		switch {
		case w.Lost == "":
		case w.Whole:
			all = append(all, fmt.Sprintf("worker %s was lost (%s); all that it had recorded came in later", w.Name, w.Lost))
		default:
			all = append(all, fmt.Sprintf("worker %s was lost (%s); what its %d clients did after event %d is of unknown outcome", w.Name, w.Lost, len(w.Clients), w.Events-1))
		}
	}
	return all
}
