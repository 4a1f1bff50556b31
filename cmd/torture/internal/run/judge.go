package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"locktorture/checker"
	"locktorture/cmd/torture/internal/distributed"
	"locktorture/reports"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

// judgingLimit bounds the second opinion of a run that was not interrupted.
const judgingLimit = 30 * time.Second

// ViewsDir is the folder of a run directory that holds Porcupine's pictures.
const ViewsDir = "second-opinion"

// judging is how every run and every stored history is judged.
var judging = checker.Options{SecondOpinion: true, Counterfactual: true, Views: 4}

// Judging returns how every run and every stored history is judged.
func Judging() checker.Options {
	o := judging
	o.Patience = judgingLimit
	return o
}

// Judge judges a stored history as a run judges its own, or as o says.
func Judge(ctx context.Context, source *history.Reader, o checker.Options) (checker.Report, error) {
	began := time.Now()
	report, err := checker.CheckReader(ctx, source, o)
	report.Checked.Seconds = time.Since(began).Seconds()
	return report, err
}

// WriteViews writes Porcupine's pictures into dir, in place of those of an
// earlier judgement.
func WriteViews(dir string, views []checker.View) error {
	old, err := filepath.Glob(filepath.Join(dir, "window-*.html"))
	for _, path := range old {
		err = errors.Join(err, os.Remove(path))
	}
	if len(views) == 0 || err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write second opinion: %w", err)
	}
	for i, v := range views {
		name := fmt.Sprintf("window-%d-%s.html", i+1, fileWord(v.Key))
		if err := os.WriteFile(filepath.Join(dir, name), v.HTML, 0o600); err != nil {
			return fmt.Errorf("write second opinion: %w", err)
		}
	}
	return nil
}

// fileWord makes a key's name fit for a file's.
func fileWord(key string) string {
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, key)
	return word[:min(len(word), 60)]
}

// judged is the judge's report on the run: it has observed the run, or observes the merged
// histories of all workers now.
func (s *session) judged(ctx context.Context) (checker.Report, error) {
	if s.remote == nil {
		return s.judge.Finish(ctx, false), nil
	}
	err := s.merge()
	return s.judge.Finish(ctx, false), err
}

// merge merges the histories of coordinator and workers into the run's, and has it judged.
func (s *session) merge() (err error) {
	defer func() { err = errors.Join(err, os.Remove(s.remote.lock.Name()), s.remote.lock.Close()) }()
	for _, r := range s.remote.shares {
		if r.Lost() == "" && !r.Whole() { // what it had told of would be held against what it could not tell
			return errors.Join(fmt.Errorf("of worker %s not all came in, so that nothing of the run is judged: copy its own file, RUN.%s.jsonl below its --dir, into %s, and have it judged by torture check %s",
				r.Name, r.Name, filepath.Join(s.dir, WorkersDir), s.dir), s.unmerged())
		}
	}
	all, err := distributed.OpenHistories(coordinatorHost, s.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, all.Close()) }()
	all.Header = s.header
	all.AddAfterwards(s.remote.silences())
	for i, r := range s.remote.shares {
		source, closer, err := s.remote.source(i)
		if err != nil {
			return err
		}
		all.Add(source, r.Clock(), closer)
	}
	withheld, err := all.Merge(filepath.Join(s.dir, historyfile.Name), func(h history.Header) history.Sink {
		s.judge = checker.New(h, s.judging)
		return s.judge
	})
	if withheld > 0 {
		s.remote.findings = append(s.remote.findings, distributed.Withheld(withheld))
	}
	return err
}

// unmergedFile, beside the workers' histories, says that they have not been merged into the
// run's.
const unmergedFile = "unmerged"

// unmerged writes a history in which nothing happened.
func (s *session) unmerged() error {
	s.judge = checker.New(s.header, s.judging)
	file, err := historyfile.Create(filepath.Join(s.dir, historyfile.Name), s.header)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.WriteFile(filepath.Join(s.dir, WorkersDir, unmergedFile), nil, 0o600))
}

// source is the history of the i-th worker, by the coordinator's clock.
func (a *remoteDriver) source(i int) (distributed.Source, io.Closer, error) {
	r := a.shares[i]
	reader, closer, err := historyfile.Open(r.Path(), nil)
	s := distributed.Source{Host: r.Name, Events: reader, Clients: a.names[i]}
	if why := r.Lost(); why != "" && (!r.Whole() || r.Returned()) { // what it had seen in its last milliseconds is not in its file
		s.Lost = fmt.Sprintf("worker %s was, of which %s", r.Name, why)
	}
	clock := r.Clock()
	s.Time = clock.Coordinator
	return s, closer, err
}

// described is where each client runs, and what is known of that worker so far.
func (a *remoteDriver) described() (all []reports.Worker) {
	for i, r := range a.shares {
		w := reports.Worker{Name: r.Name, Host: r.Host, PID: r.PID, Clients: a.names[i], Lost: r.Lost(), Returned: r.Returned()}
		if a.rec != nil {
			clock := r.Clock()
			w.Events, w.Whole = r.Received(), r.Whole()
			w.Epsilon, w.Offset, w.Drift, w.DriftOff, w.Stepped, w.Readings = clock.Epsilon, clock.Offset, clock.Drift, clock.Off, clock.Stepped, clock.Read
			w.Late50, w.Late99 = a.late[i].at(50), a.late[i].at(99)
		}
		all = append(all, w)
	}
	return all
}

// unsure is the share of a TTL that the uncertainty of a worker's clock may reach: beyond it,
// too little of a lease is left to judge by time.
const unsure = 10

// warnings say what is odd of the workers.
func (a *remoteDriver) warnings() (all []string) {
	all = append(all, a.findings...)
	for i, w := range a.described() {
		apart := ""
		switch {
		case w.Stepped != 0:
			apart = fmt.Sprintf("its clock was moved by %v while the run went on", rounded(w.Stepped))
		case w.Epsilon > a.cfg.TTL/unsure:
			apart = fmt.Sprintf("its clock is known to %v only, more than a tenth of the TTL", rounded(w.Epsilon))
		}
		if apart != "" {
			all = append(all, fmt.Sprintf("INCONCLUSIVE by time: what clients of worker %s did and what those of others did is not compared by time: %s. Tokens, writes and the store's log are judged as ever", w.Name, apart))
		}
		for _, s := range a.shares[i].Silences() {
			if s.To != 0 && !s.Gone {
				all = append(all, fmt.Sprintf("worker %s answered nothing from %v to %v: in the history this is the fault %s of its %d clients, in force until %v, when the network had delivered what it had held back", w.Name, rounded(s.From), rounded(s.To), history.WorkerSilent, len(w.Clients), rounded(s.Over)))
			}
		}
		switch {
		case w.Lost == "":
		case w.Returned:
			all = append(all, fmt.Sprintf("worker %s was lost (%s); all that its file had came in later, and what its %d clients did after that is of unknown outcome", w.Name, w.Lost, len(w.Clients)))
		case w.Whole:
			all = append(all, fmt.Sprintf("worker %s was lost (%s); all that it had recorded came in later", w.Name, w.Lost))
		default:
			all = append(all, fmt.Sprintf("worker %s was lost (%s); what its %d clients did after event %d is of unknown outcome", w.Name, w.Lost, len(w.Clients), w.Events-1))
		}
	}
	return all
}
