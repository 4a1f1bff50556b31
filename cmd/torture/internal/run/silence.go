package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"locktorture/cmd/torture/internal/distributed"
	"locktorture/reports"
	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

// silences are those of a worker.
type silences struct {
	worker  string
	clients []string
	all     []distributed.Silence
}

// silences are those of all workers, as a source of faults and heals.
func (a *remoteDriver) silences() distributed.Source {
	var by []silences
	for i, r := range a.shares {
		by = append(by, silences{r.Name, a.names[i], r.Silences()})
	}
	return silencesOf(by, a.ended)
}

// silencesOf are faults and heals in the order of their times. What was not over when the
// run ended is not healed.
func silencesOf(by []silences, ended time.Duration) distributed.Source {
	var all distributed.EventList
	for _, w := range by {
		for _, s := range w.all {
			all = append(all, silence(w.worker, w.clients, s, ended)...)
		}
	}
	slices.SortStableFunc(all, func(x, y history.Event) int { return cmp.Compare(x.Time, y.Time) })
	open := map[string]int{} // invocations, by what is left to complete
	for i := range all {
		e := &all[i]
		e.Index = i
		if e.Kind == history.Invoke {
			open[e.Op.String()+e.Note] = i
		} else {
			e.Of, e.Has = open[e.Op.String()+e.Note], history.HasOf
		}
		e.Note = ""
	}
	return distributed.Source{Host: coordinatorHost, Events: &all}
}

// silence turns one silence of a worker into a fault that is healed once everything is
// delivered, if that was by ended: what the worker's clients had sent meanwhile may have
// arrived late. Its events bear the worker's name in their notes.
func silence(worker string, clients []string, s distributed.Silence, ended time.Duration) []history.Event {
	e := history.Event{Process: history.Nemesis, Fault: history.WorkerSilent, Target: &history.Target{Clients: clients}, Note: fmt.Sprint(worker, s.From)}
	at := func(kind history.Kind, op history.Op, t time.Duration, receipt string) history.Event {
		one := e
		one.Kind, one.Op, one.Time, one.Receipt = kind, op, t, receipt
		return one
	}
	told := []history.Event{
		at(history.Invoke, history.Fault, s.From, ""),
		at(history.OK, history.Fault, s.From, fmt.Sprintf("worker %s answered nothing that it was asked after %v", worker, rounded(s.From))),
	}
	if s.To == 0 || s.Over > ended {
		return told
	}
	healed := fmt.Sprintf("it answered at %v; what TCP had to send again was delivered by %v", rounded(s.To), rounded(s.Over))
	if s.Gone {
		healed = fmt.Sprintf("its process is no more: at %v nobody had listened in its place for some time", rounded(s.To))
	}
	return append(told, at(history.Invoke, history.Heal, s.To, ""), at(history.OK, history.Heal, s.Over, healed))
}

// MergeUnfinished makes the history of a run with workers whose coordinator ended before
// it had merged theirs, of what is there in dir; again, when more may be there. Any other
// run it leaves as it is.
func MergeUnfinished(ctx context.Context, dir string) (err error) {
	parts := filepath.Join(dir, WorkersDir)
	own := filepath.Join(parts, coordinatorHost+".jsonl.zst")
	if _, err := os.Stat(own); err != nil {
		return nil
	}
	_, judged := os.Stat(filepath.Join(dir, reports.ResultsFile))
	if _, err := os.Stat(filepath.Join(parts, unmergedFile)); err != nil && judged == nil {
		return nil
	}
	lock, err := distributed.Lock(parts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(lock.Name()), lock.Close()) }()
	meta, err := reports.ReadMeta(dir)
	if err != nil {
		return err
	}
	left, err := distributed.ReadUnfinished(parts)
	if err != nil {
		return err
	}
	all, err := distributed.OpenHistories(coordinatorHost, own)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, all.Close()) }()
	var names []string
	var by []silences
	for _, w := range meta.Workers {
		names, by = append(names, w.Name), append(by, silences{w.Name, w.Clients, left.Silences(w.Name)})
	}
	if err := left.Drain(ctx, all.Header, names); err != nil {
		return err
	}
	all.AddAfterwards(silencesOf(by, history.MaxTime))
	for _, w := range meta.Workers {
		source, clock, closer, err := left.Source(w.Name, w.Clients)
		if err != nil {
			return err
		}
		all.Add(source, clock, closer)
	}
	merged := filepath.Join(dir, historyfile.Name)
	fresh := filepath.Join(parts, "merged-"+historyfile.Name)
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := all.Merge(fresh, nil); err != nil {
		return err
	}
	return os.Rename(fresh, merged)
}
