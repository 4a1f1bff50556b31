// Package history is the record of one run: what clients invoked and how each
// invocation completed, what the nemesis did, and what the guarded store, the
// node witnesses and the links saw. Checkers and reports see nothing else.
//
// The package imports only the standard library, so that a checker of one's
// own can name its types without pulling in the harness.
package history

import "time"

// Process numbers below zero belong to the harness.
const (
	Nemesis = -1 // fault and heal events
	Store   = -2 // audit events
	Witness = -3 // key events, seen from a direct connection to a node
	Link    = -4 // receipt events, which resolve unknown outcomes
)

// A Kind says what an event tells about an operation.
type Kind uint8

// The four kinds. Zero is no kind at all.
const (
	Invoke Kind = iota + 1 // about to act
	OK                     // it took effect
	Fail                   // it certainly did not take effect
	Info                   // it may or may not have taken effect, now or later
)

// An Op names what is done.
type Op uint8

// The operations. Zero is no operation at all.
const (
	Acquire Op = iota + 1
	Extend
	Release
	Write
	Read
	Lost    // the library told its user that the lease is gone
	Fault   // nemesis: a fault begins
	Heal    // nemesis: a fault ends
	Audit   // store: one line of its own log
	Key     // witness: what a master stores under a key
	Phase   // warmup, main, final, end
	Receipt // link: what became of the invocation Of
	Stall   // nemesis: from Began to Ended the harness itself stood still
)

// A Mode is how a lease is held.
type Mode uint8

// Exclusive is the default.
const (
	Exclusive Mode = iota
	Shared
)

// Other is the other mode.
func (m Mode) Other() Mode { return Shared - m }

// Values of Phase events.
const (
	PhaseWarmup = "warmup"
	PhaseMain   = "main"
	PhaseFinal  = "final"
	PhaseEnd    = "end" // the last event of a complete history
)

// Faults of a worker's clients that no nemesis injects: nothing was heard of it for a
// while, and its clock was moved.
const (
	WorkerSilent = "worker-silent"
	WorkerClock  = "worker-clock"
)

// Values of Receipt events.
const (
	NeverForwarded = "never-forwarded"
	Executed       = "executed"
)

// Sample is the value of a Key event that is one of many looks while the run goes
// on: what it shows holds until the next one of the same node and note, which
// names the key as the node stores it. Began is when the look began.
const Sample = "sample"

// How an acquire asks, where its mode does not say it: the note of its invocation.
const (
	AskWait    = "wait"     // waits inside the lock
	AskFair    = "fair"     // waits in line
	AskReentry = "re-entry" // in the owner's name, which may hold the key already
	AskMulti   = "multi"    // several keys at once
)

// A Field is a set of optional numeric fields of an Event. A number's zero is
// a legal value; Has tells it from an absent one.
type Field uint16

// The optional numeric fields.
const (
	HasValidUntil Field = 1 << iota
	HasSeq
	HasBase
	HasBegan
	HasEnded
	HasOf
	HasPTTL
	HasLag
	HasIntended
)

// An Event is one line of a history after the header. Times are nanoseconds
// since the run began, on one monotonic clock. What nearly every event has
// comes first: 128 bytes of it.
type Event struct {
	Index   int           // position, from 0, without gaps
	Time    time.Duration // never decreases with Index
	Process int           // one logical thread of control, retired after Info
	Kind    Kind
	Op      Op
	Mode    Mode
	Instant bool  // on a fault: it needs no heal
	Has     Field // which of the optional numbers below are present

	Key   string // the resource
	Owner string // who acts for the lock's purposes

	Fence      uint64        // fencing token; 0 is none
	ValidUntil time.Duration // until when the lock promised exclusivity
	Seq        uint64        // the store's sequence number of a write
	Base       uint64        // seq of the version that a read-modify-write read
	Value      string        // unique per write; the phase; the receipt of a link
	Err        string        // one line, for Fail and Info

	Intended time.Duration // open-loop load: when the operation was due
	Began    time.Duration // when the operation really began …
	Ended    time.Duration // … and ended, where Time does not say it
	Of       int           // index of the invocation that a receipt, or a completion of the nemesis, speaks of

	Fault   string  // which fault
	Target  *Target // on whom; shared by copies of the event, so not to be changed
	Receipt string  // what proves that it took effect

	Host   string        // whose clock stamped it, where several did
	Node   string        // witness: which master
	PTTL   int64         // witness: milliseconds left, -1 without expiry, -2 absent
	Holder string        // witness: the stored owner
	Lag    time.Duration // the harness's own scheduling lag
	Note   string
}

// HasAll reports whether all of f are present.
func (e *Event) HasAll(f Field) bool { return e.Has&f == f }

// MaxTime is the latest instant and the longest span that events are stamped
// with, 36 years: sums of a few of them do not overflow. A ttl_ns, a
// valid_until_ns and a pttl_ms beyond it say "without end".
const MaxTime = time.Duration(1 << 60)

// Version is the version of the format that this package writes.
const Version = 1

// A Header is the first line of a history.
type Header struct {
	Type     string         `json:"type"` // "history"
	Version  int            `json:"version"`
	Scenario string         `json:"scenario"`
	Lock     string         `json:"lock"`
	Seed     uint64         `json:"seed"`
	Nodes    int            `json:"nodes"`
	Quorum   int            `json:"quorum"`
	TTL      time.Duration  `json:"ttl_ns"`
	Drift    time.Duration  `json:"drift_ns"`
	Epsilon  time.Duration  `json:"epsilon_ns"`
	Fenced   bool           `json:"fenced"`
	Began    time.Time      `json:"began,omitzero"`
	Floors   map[string]int `json:"floors,omitempty"`   // evidence demanded before a pass
	Expected []string       `json:"expected,omitempty"` // anomaly ids meant to be seen
	Accepted []string       `json:"accepted,omitempty"` // anomaly ids that are listed and make no FAIL; they may be missing

	// Bounds are what a lock documents or a scenario declares, by name with the
	// unit in it: retry_ns, loss_ns, wait_ns, recovery_ns,
	// availability_percent, livelock_rounds.
	Bounds map[string]int64 `json:"bounds,omitempty"`

	// Hosts are those whose clocks stamped events, where there are several: two
	// events of one host are as far apart as its own bound allows, those of two
	// hosts as far as the sum of both.
	Hosts map[string]Host `json:"hosts,omitempty"`

	// OwnerCheckedRelease says whether a successful release proves that its
	// owner still held; absent means true.
	OwnerCheckedRelease *bool `json:"owner_checked_release,omitempty"`
}

// A Host is a machine whose clock stamped events.
type Host struct {
	Epsilon time.Duration `json:"epsilon_ns"` // how far its stamps may be off
}

// A History is a whole run held in memory: small ones, in tests and windows.
// Long ones are streamed through a Reader.
type History struct {
	Header    Header
	Events    []Event
	Truncated bool // the file ended without its end event, or within a line
}
