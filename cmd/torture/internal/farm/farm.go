// Package farm has the workers of a farm, on however many machines, play what one
// coordinator lays out. Between them stands NATS with JetStream, in the coordinator's
// own process or elsewhere: tasks are a work queue, of which each is delivered again
// while nobody has acknowledged it; the first result of a task is kept and any other
// refused; records of what was played travel through an object store.
//
// The package knows nothing of what is played: tasks and results carry JSON, and a
// Player makes the one of the other.
package farm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/nats-io/nats.go/jetstream"
)

// A Task is one thing to be played.
type Task struct {
	Job   string          `json:"job"`             // that it belongs to
	ID    string          `json:"id"`              // within its job: letters, digits, "-" and "_"
	Kind  string          `json:"kind"`            // the Player's name
	Needs string          `json:"needs"`           // what a worker must have, one of its Abilities
	Alone bool            `json:"alone,omitempty"` // a worker plays nothing beside it
	Body  json.RawMessage `json:"body"`
}

// A Result is what became of a task. There is one of each task.
type Result struct {
	Task    Task            `json:"task"`
	Body    json.RawMessage `json:"body,omitempty"`
	Trouble string          `json:"trouble,omitempty"` // why it has no body
	Record  string          `json:"record,omitempty"`  // object that holds the record; empty: none was kept
	Worker  string          `json:"worker"`
	Load    Load            `json:"load,omitzero"`
}

// A Load is how the worker's machine bears what it plays.
type Load struct {
	Busy  bool          `json:"busy,omitempty"`     // too busy to say anything
	Calm  bool          `json:"calm,omitempty"`     // not too busy
	Lease time.Duration `json:"lease_ns,omitempty"` // shortest that it can judge by time; 0: unknown
}

// A Build is the program that lays out or plays: both must be of one, since a seed
// means something else in another.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Program string `json:"program"` // import path of its main package
}

// token is the build as a part of a subject.
func (b Build) token() string {
	sum := sha256.Sum256([]byte(b.Version + "\n" + b.Commit + "\n" + b.Program))
	return hex.EncodeToString(sum[:6])
}

// String is the build in words.
func (b Build) String() string {
	return fmt.Sprintf("%s %s, commit %s", b.Program, b.Version, b.Commit)
}

// Names of what the server keeps. All farms of one server share them: each job has
// subjects, keys and objects of its own.
const (
	tasksStream   = "TORTURE_TASKS"
	resultsStream = "TORTURE_RESULTS"
	jobsBucket    = "TORTURE_JOBS"    // Announcement by job
	claimsBucket  = "TORTURE_CLAIMS"  // coordinator by job, while it lives
	workersBucket = "TORTURE_WORKERS" // Presence by worker, while it lives
	recordsBucket = "TORTURE_RECORDS"

	taskPrefix   = "torture.task."   // build, ability, job, id
	resultPrefix = "torture.result." // job, id
	offPrefix    = "torture.off."    // job, id: the task is called off
)

const (
	// ackWait is how long a task stays with a worker that says nothing: it is delivered
	// again then. A worker that plays says so three times as often.
	ackWait = 15 * time.Second

	// presenceFor is how long a worker or coordinator that says nothing counts as there.
	presenceFor = 12 * time.Second

	// deliveries is how often a task is delivered. The worker that has it once more says
	// so instead of playing it: it may be the task that ends them.
	deliveries = 8
)

// An Announcement says of a job who plays it.
type Announcement struct {
	Build Build  `json:"build"`
	About string `json:"about"` // in words
}

// A Presence says of a worker that it is there.
type Presence struct {
	Name      string   `json:"name"`
	Build     Build    `json:"build"`
	Slots     int      `json:"slots"`
	Abilities []string `json:"abilities"`
	Playing   int      `json:"playing"`
	Played    int      `json:"played"`
}

// stores are the streams and buckets of a server.
type stores struct {
	js      jetstream.JetStream
	tasks   jetstream.Stream
	results jetstream.Stream
	jobs    jetstream.KeyValue
	claims  jetstream.KeyValue
	workers jetstream.KeyValue
	records jetstream.ObjectStore
}

// openStores makes what is not there yet, and opens it.
func openStores(ctx context.Context, js jetstream.JetStream) (s stores, err error) {
	s.js = js
	if s.tasks, err = MakeStream(ctx, js, jetstream.StreamConfig{
		Name: tasksStream, Subjects: []string{taskPrefix + ">"}, Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew,
	}); err != nil {
		return s, fmt.Errorf("open the farm's tasks: %w", err)
	}
	if s.results, err = MakeStream(ctx, js, jetstream.StreamConfig{
		Name: resultsStream, Subjects: []string{resultPrefix + ">"}, Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew,
	}); err != nil {
		return s, fmt.Errorf("open the farm's results: %w", err)
	}
	for _, b := range []struct {
		to   *jetstream.KeyValue
		name string
		ttl  time.Duration
	}{{&s.jobs, jobsBucket, 0}, {&s.claims, claimsBucket, presenceFor}, {&s.workers, workersBucket, presenceFor}} {
		if *b.to, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: b.name, TTL: b.ttl}); err != nil {
			return s, fmt.Errorf("open the farm's %s: %w", strings.ToLower(b.name), err)
		}
	}
	if s.records, err = js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: recordsBucket}); err != nil {
		return s, fmt.Errorf("open the farm's records: %w", err)
	}
	return s, nil
}

func taskSubject(b Build, t Task) string {
	return taskPrefix + b.token() + "." + t.Needs + "." + t.Job + "." + t.ID
}

func resultSubject(t Task) string { return resultPrefix + t.Job + "." + t.ID }

func offSubject(t Task) string { return offPrefix + t.Job + "." + t.ID }

// isThere reports whether publishing was refused since the subject has a message
// already.
func isThere(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// tryLimit bounds one try to have the server take something.
const tryLimit = 5 * time.Second

// untilTaken tries something until the server takes it, or has it already, while ctx
// and patience last.
func untilTaken(ctx context.Context, patience time.Duration, say func(string), what string, try func(ctx context.Context) error) error {
	pauses := backoff.NewExponentialBackOff(backoff.WithInitialInterval(100*time.Millisecond), backoff.WithMaxInterval(3*time.Second), backoff.WithMaxElapsedTime(patience))
	told := time.Now()
	err := backoff.RetryNotify(func() error {
		one, cancel := context.WithTimeout(ctx, tryLimit) // what was sent as NATS went away is never answered
		defer cancel()
		err := try(one)
		if isThere(err) {
			return nil
		}
		return err
	}, backoff.WithContext(pauses, ctx), func(err error, _ time.Duration) {
		if time.Since(told) > 5*time.Second {
			told = time.Now()
			say(what + ": the farm's NATS does not take it: " + hidden(err))
		}
	})
	if err != nil {
		return fmt.Errorf("%s: the farm's NATS did not take it within %v (is it there, with room on its disk?): %w", what, patience, err)
	}
	return nil
}
