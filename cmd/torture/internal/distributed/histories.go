package distributed

import (
	"errors"
	"io"

	"locktorture/workload/history"
	"locktorture/workload/history/historyfile"
)

// Histories are those of coordinator and workers, to be made one.
type Histories struct {
	Header  history.Header // the coordinator's, unless it is set
	hosts   map[string]history.Host
	sources []Source
	closers []io.Closer
}

// OpenHistories begins with the coordinator's own.
func OpenHistories(coordinator, path string) (*Histories, error) {
	own, closer, err := historyfile.Open(path, nil)
	if err != nil {
		return nil, err
	}
	return &Histories{
		Header: own.Header(), hosts: map[string]history.Host{coordinator: {}},
		sources: []Source{{Host: coordinator, Events: own}}, closers: []io.Closer{closer},
	}, nil
}

// AddAfterwards adds events that the coordinator generated after the run.
func (a *Histories) AddAfterwards(s Source) { a.sources = append(a.sources, s) }

// Add adds a worker's history, which its clock has stamped.
func (a *Histories) Add(s Source, c Clock, closer io.Closer) {
	a.hosts[s.Host] = history.Host{Epsilon: min(c.Epsilon, history.MaxTime)}
	a.sources, a.closers = append(append(a.sources, s), Moved(s, c)...), append(a.closers, closer)
}

// Merge writes all of them as one to a file that is not there, and hands it to a sink as
// well; nil: to nobody. It returns what the function Merge does.
func (a *Histories) Merge(path string, sink func(h history.Header) history.Sink) (withheld int, err error) {
	h := a.Header
	h.Hosts = a.hosts
	file, err := historyfile.Create(path, h)
	if err != nil {
		return 0, err
	}
	emit := file.Event
	if sink != nil {
		other := sink(h)
		emit = func(e *history.Event) {
			file.Event(e)
			other.Event(e)
		}
	}
	withheld, err = Merge(h, a.sources, emit)
	return withheld, errors.Join(err, file.Close())
}

// Close closes the files.
func (a *Histories) Close() (err error) {
	for _, c := range a.closers {
		err = errors.Join(err, c.Close())
	}
	return err
}
