package sample

import (
	"io"

	"locktorture/workload/history"
)

// A Source gives a history in memory event by event, as a reader would.
type Source struct {
	History history.History
	next    int
}

// Header returns the history's header.
func (s *Source) Header() history.Header { return s.History.Header }

// Next reads the next event into e, and returns io.EOF after the last.
func (s *Source) Next(e *history.Event) error {
	if s.next == len(s.History.Events) {
		return io.EOF
	}
	*e = s.History.Events[s.next]
	s.next++
	return nil
}
