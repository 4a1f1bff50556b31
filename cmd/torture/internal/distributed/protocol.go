// Package distributed has the clients of one run on several machines. A coordinator
// calls workers together over NATS, hands each its part of the run and asks it to do
// this or that; each worker records what its clients see in a file of its own and sends
// it from there, through a stream that the server of NATS keeps on its disk, until it
// is acknowledged. The coordinator reads the workers' clocks while the run goes on, and
// merges all histories into one when it is over.
//
// The package knows nothing of locks and faults: what a worker does when it is asked
// is its Part's affair.
package distributed

import (
	"encoding/json"
	"errors"
	"time"

	"locktorture/cmd/torture/internal/farm"
)

// Subjects of what coordinator and workers say to one another, and names of what the
// server keeps.
const (
	callSubject   = "torture.workers"  // a coordinator looks for workers: call → Offer
	herePrefix    = "torture.here."    // worker: who is there of the name? → in words
	workerPrefix  = "torture.worker."  // worker: it is given a part: task → answer
	askPrefix     = "torture.ask."     // run, worker: question → answer
	clockPrefix   = "torture.clock."   // run, worker: the worker's clock is read → clockAnswer
	historyPrefix = "torture.history." // run, worker: the events that it recorded
	streamPrefix  = "TORTURE_RUN_"     // run: the stream of these
)

// Headers of the messages that carry events.
const (
	endHeader      = "Torture-End"      // how many events the worker recorded: nothing follows
	returnedHeader = "Torture-Returned" // the worker was started anew, and sends what it still had
)

// A call asks for workers.
type call struct {
	Run   string     `json:"run"`
	Build farm.Build `json:"build"`
}

// An Offer is a worker's answer to a call.
type Offer struct {
	Name string `json:"name"` // of letters, digits, "-" and "_"
	Host string `json:"host"`
	PID  int    `json:"pid"`

	Not string `json:"not,omitempty"` // why the worker takes no part, in words; it has no name then
}

// A task is a part that is given to a worker.
type task struct {
	Run  string          `json:"run"`
	Part json.RawMessage `json:"part"`
}

// A question is one thing that a worker shall do for its run.
type question struct {
	ID   uint64          `json:"id"` // of the coordinator's, each once: a question that comes twice is answered twice and done once
	Op   string          `json:"op"`
	Body json.RawMessage `json:"body,omitempty"`
}

// An answer is what came of it.
type answer struct {
	Body json.RawMessage `json:"body,omitempty"`
	Err  string          `json:"err,omitempty"`
}

// A clockAnswer says what the worker's clock showed.
type clockAnswer struct {
	Got, Answered time.Duration
}

// ErrLost is what a question comes to that is put to a worker which is no more, or has
// not answered for too long.
var ErrLost = errors.New("the worker is lost")

const (
	// askAgain is how long an answer is waited for before the question is put again.
	askAgain = time.Second

	// lostAfter is how long a worker may say nothing before it counts as lost, and goneAfter
	// how long nobody may listen in its place: whose connection is no more is away for good
	// sooner than one that is cut off.
	lostAfter = 25 * time.Second
	goneAfter = 5 * time.Second

	// abandonAfter is how long a worker keeps its part when nobody asks it anything.
	abandonAfter = time.Minute

	// readEvery is how often a worker's clock is read, by readTries exchanges of which the
	// fastest counts.
	readEvery = 500 * time.Millisecond
	readTries = 4
)
