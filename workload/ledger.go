package workload

import (
	"sync"
	"time"

	"locktorture/workload/history"
	"locktorture/workload/store"
)

// A Ledger is the guarded resource of clients that write by themselves while
// they hold, as a lock in a child process does: the harness itself. It orders
// writes by their arrival, and judges tokens as the store does. The Conn of
// such a client has no Store. It is safe for concurrent use.
type Ledger struct {
	rec    *history.Recorder
	policy store.Policy

	mu        sync.Mutex
	processes map[string]int // of each owner's writes
	highest   map[string]uint64
	log       []store.Entry
	audited   bool // the log is in the history
}

// NewLedger makes an empty ledger.
func NewLedger(rec *history.Recorder, p store.Policy) *Ledger {
	return &Ledger{rec: rec, policy: p, processes: map[string]int{}, highest: map[string]uint64{}}
}

// An Effect is a write that a client made by itself.
type Effect struct {
	Key, Owner string
	Fence      uint64    // 0 when the lock issues none
	Value      string    // unique in the run
	Issued     time.Time // when its client made it; zero when that is not known
}

// Record applies a write that has just arrived, and records it in the history: the time at
// which it was issued is the event's began_ns.
func (l *Ledger) Record(w Effect) {
	l.mu.Lock()
	defer l.mu.Unlock()
	process, known := l.processes[w.Owner]
	if !known {
		process = l.rec.NewProcess()
		l.processes[w.Owner] = process
	}
	e := history.Event{
		Process: process, Kind: history.Invoke, Op: history.Write,
		Key: w.Key, Owner: w.Owner, Fence: w.Fence, Value: w.Value,
	}
	if !w.Issued.IsZero() {
		e.Began, e.Has = l.rec.Since(w.Issued), history.HasBegan
	}
	l.rec.Append(e)
	entry := l.enter(w)
	e.Kind, e.Seq, e.Has = history.OK, entry.Seq, e.Has|history.HasSeq
	if !entry.Accepted {
		e.Kind, e.Err = history.Fail, store.ErrStale.Error()
	}
	l.rec.Append(e)
	if l.audited {
		l.rec.Append(auditEvent(&entry))
	}
}

// enter judges and logs a write.
func (l *Ledger) enter(w Effect) store.Entry {
	entry := store.Entry{
		Seq:      uint64(len(l.log) + 1),
		Accepted: l.policy != store.Fenced || w.Fence >= l.highest[w.Key],
		Write:    store.Write{Key: w.Key, Owner: w.Owner, Fence: w.Fence, Value: w.Value},
	}
	if entry.Accepted {
		l.highest[w.Key] = max(l.highest[w.Key], w.Fence)
	}
	l.log = append(l.log, entry)
	return entry
}

// RecordAudit appends the ledger's log to the history, as the function of that
// name does with the store's. What somebody who does not stop writes later is appended as it comes.
func (l *Ledger) RecordAudit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.audited = true
	for i := range l.log {
		l.rec.Append(auditEvent(&l.log[i]))
	}
}
