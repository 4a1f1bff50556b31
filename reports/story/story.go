package story

import (
	"time"

	"locktorture/checker"
	"locktorture/reports/unit"
	"locktorture/workload/history"
)

// A Story is one violation retold from the history.
type Story struct {
	ID      string          `json:"id"` // M-1, M-2, … in the order of the report
	Title   string          `json:"title"`
	Finding checker.Finding `json:"finding"`
	Steps   []Step          `json:"steps"`
	Why     string          `json:"why,omitempty"`
	Remedy  string          `json:"remedy,omitempty"`
	From    time.Duration   `json:"from_ns"` // the stretch of the run that it shows
	To      time.Duration   `json:"to_ns"`

	Overlap Overlap         `json:"-"`
	Holds   []Hold          `json:"-"`
	Stored  []Stored        `json:"-"`
	Writes  []Write         `json:"-"`
	Faults  []Fault         `json:"-"`
	Events  []history.Event `json:"-"` // the raw operations on the key, and the nemesis's
}

// A Step is one line of the story.
type Step struct {
	N     int           `json:"n"`
	Time  time.Duration `json:"time_ns"`
	Who   string        `json:"who"`
	Text  string        `json:"text"`
	Index int           `json:"index"` // of the event in the history

	Writes bool   `json:"writes,omitempty"` // it is a write that reached the store
	Client string `json:"client,omitempty"` // where it happened: at a client …
	Node   string `json:"node,omitempty"`   // … or at a node
}

// An Overlap is the stretch that makes the violation: in which two owners held
// at once, or, when Late, between the end of a lease and the write of the one
// who had it. There is none when To is not after From.
type Overlap struct {
	From, To time.Duration
	Owners   [2]string // Late: the first alone
	Late     bool
}

// String says what the stretch is.
func (o Overlap) String() string {
	if o.Late {
		return "written " + unit.Millis(o.Length()) + " after the lease had ended"
	}
	return "two holders for at least " + unit.Millis(o.Length())
}

// Length is how long both held for certain, or how late the write was.
func (o Overlap) Length() time.Duration { return max(o.To-o.From, 0) }

// A Hold is one owner's belief: what its client was told.
type Hold struct {
	Owner    string
	Fence    uint64
	Shared   bool
	Invoked  time.Duration // when the acquire began
	From     time.Duration // when it was granted
	Deadline time.Duration // until when exclusivity was promised, extensions included
	To       time.Duration // when the hold ended: deadline, release begun, or loss reported
	Released time.Duration // when the release was answered; 0 without one
}

// Stored is one stretch of truth: what a node stored under the key.
type Stored struct {
	Node     string
	Holder   string // as it was stored; empty: nothing
	Owner    string // whose lease that is, as far as is known
	From, To time.Duration
	Silent   bool // the node did not answer: what it stored is not known
}

// A Write is one write to the guarded store.
type Write struct {
	Owner    string
	Fence    uint64
	Time     time.Duration
	Accepted bool
	Late     bool // it came when another owner held, or after its own lease
}

// A Fault is one fault near the violation that may have had a part in it: it
// hit one of the owners, or nodes.
type Fault struct {
	Name, Target string
	Nodes        []string
	From, To     time.Duration
	Receipts     []string
}
