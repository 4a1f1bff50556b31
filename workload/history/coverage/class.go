package coverage

import (
	"slices"

	"locktorture/workload/history"
)

// A Class is a class of faults. A fault touches the clients that its target names,
// or all of them where it names none, as faults of nodes do: on which nodes a lease
// stands a history does not say.
type Class uint8

// The classes.
const (
	RequestLost      Class = iota // never reaches the node
	ReplyLost                     // the node has acted, and the client does not hear of it
	LateReply                     // slow, and in time for nobody to give up
	Stalled                       // requests are held, and acted upon later, perhaps after their client gave up
	MinorityCut                   // fewer nodes are out of reach than the quorum can spare
	MajorityCut                   // no quorum is in reach
	SplitVote                     // every client reaches a minority, each another one
	ClientPaused                  // stands still, and goes on as if nothing had been
	ClientCrashed                 // is no more; what it had under way when that happened counts
	NodeRestarted                 // down, and back with its data
	NodeEmpty                     // forgot what it had granted, and grants again at once
	NodeLate                      // forgot it, and comes back when all that it had granted is over
	ClockShifted                  // a clock or the TTLs of a node's keys moved
	NotificationLost              // waiters do not hear of releases

	classes
)

var classNames = [classes]string{
	"request lost", "reply lost", "late reply", "stall", "minority cut", "majority cut", "split vote",
	"client paused", "client crashed", "node restarted", "node empty", "node back late", "clock shifted", "notification lost",
}

// Classes lists all classes.
func Classes() (all []Class) {
	for c := range classes {
		all = append(all, c)
	}
	return all
}

func (c Class) String() string { return name(classNames[:], int(c)) }

// MarshalText implements encoding.TextMarshaler.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Class) UnmarshalText(text []byte) error {
	i, err := find(classNames[:], string(text), "class of faults")
	*c = Class(i)
	return err
}

// matter lists the phases at which a class can make a difference to a lock: those
// in which it has a message under way that can be lost or late, those of a client
// that can stand still or end, those of a lease that a node can forget.
var matter = [classes][]Phase{
	RequestLost:      {AcquireSent, RenewalSent, ReleaseSent, Waiting},
	ReplyLost:        {AcquireSent, InSection, RenewalSent, ReleaseSent, Waiting},
	LateReply:        {AcquireSent, RenewalSent, ReleaseSent, Waiting, Woken},
	Stalled:          {AcquireSent, InSection, RenewalDue, RenewalSent, Expiry, ReleaseSent, ReleaseReplied, Waiting},
	MinorityCut:      {AcquireSent, AcquireReplied, InSection, RenewalDue, RenewalSent, RenewalReplied, ReleaseSent, ReleaseReplied, Waiting, Woken},
	MajorityCut:      {AcquireSent, AcquireReplied, InSection, RenewalDue, RenewalSent, Expiry, ReleaseSent, Waiting, Woken},
	SplitVote:        {AcquireSent, Waiting, Woken},
	ClientPaused:     {AcquireSent, AcquireReplied, InSection, RenewalDue, RenewalSent, Expiry, ReleaseSent, Waiting, Woken},
	ClientCrashed:    {AcquireSent, AcquireReplied, InSection, RenewalDue, RenewalSent, ReleaseSent, Waiting},
	NodeRestarted:    {AcquireSent, AcquireReplied, InSection, RenewalDue, RenewalSent, RenewalReplied, Expiry, ReleaseSent, ReleaseReplied, Waiting, Woken},
	NodeEmpty:        {AcquireSent, AcquireReplied, InSection, RenewalDue, RenewalSent, RenewalReplied, Expiry, ReleaseSent, ReleaseReplied, Waiting, Woken},
	NodeLate:         {AcquireSent, AcquireReplied, InSection, RenewalDue, RenewalSent, RenewalReplied, Expiry, ReleaseSent, ReleaseReplied, Waiting, Woken},
	ClockShifted:     {AcquireReplied, InSection, RenewalDue, RenewalSent, Expiry, Waiting},
	NotificationLost: {Waiting, Woken},
}

// Matters reports whether a class of faults can make a difference at a phase.
func Matters(c Cell) bool { return c.Class < classes && slices.Contains(matter[c.Class], c.Phase) }

// A kind says to which class a fault belongs.
type kind struct {
	class Class
	cut   bool // minority or majority, by the number of nodes that it takes away
	none  bool // it fits no class
}

var (
	cut  = kind{cut: true}
	none = kind{none: true}
)

func of(c Class) kind { return kind{class: c} }

// kinds are the faults of the catalogue by their names in a history. Of halves
// everybody misses a minority at least, and half of the clients more; which half
// a history does not say.
var kinds = map[string]kind{
	"request-lost": of(RequestLost), "slow-close": of(RequestLost),
	"response-lost": of(ReplyLost), "fast-lost-reply": of(ReplyLost), "limit-data": of(ReplyLost), "reset": of(ReplyLost),
	"kick-clients": of(ReplyLost), "cancel-context": of(ReplyLost), "store-reply-lost": of(ReplyLost),
	"latency": of(LateReply), "latency-heavy-tail": of(LateReply), "bandwidth": of(LateReply), "slicer": of(LateReply),
	"slow-reply": of(LateReply), "slow-node": of(LateReply), "starve-cpu": of(LateReply),
	"stall": of(Stalled), "zombie": of(Stalled), "stuck-connection": of(Stalled), "pause-node": of(Stalled),
	"server-pause": of(Stalled), "store-write-delayed": of(Stalled),
	history.WorkerSilent: of(Stalled), // a network that fails by itself holds requests back
	"cut":                cut, "flapping": cut, "one-way": cut, "partition-client": cut, "partition-node": cut, "busy-script": cut,
	"demote": cut, "out-of-memory": cut,
	"halves": of(MinorityCut), "ring": of(MinorityCut), "split-vote": of(SplitVote),
	"pause-client": of(ClientPaused), "crash-client": of(ClientCrashed),
	"kill": of(NodeRestarted), "kill-late": of(NodeLate),
	"kill-empty": of(NodeEmpty), "power-loss": of(NodeEmpty), "failover": of(NodeEmpty), "failover-isolated": of(NodeEmpty), "flushall": of(NodeEmpty),
	"evict": of(NodeEmpty), "evict-volatile": of(NodeEmpty),
	"clock-jump": of(ClockShifted), "clock-drift": of(ClockShifted), "ttl-shift": of(ClockShifted),
	"client-clock": of(ClockShifted), "client-clock-stuck": of(ClockShifted), history.WorkerClock: of(ClockShifted),
	"notify-cut": of(NotificationLost), "notify-lost": of(NotificationLost),
	"script-flush": none, "cluster-failover": none, "migrate-slot": none, // nothing is lost by them, and nobody is cut off
}

// Known reports whether a fault has its place here: a class, or none on purpose.
func Known(fault string) bool { _, known := kinds[fault]; return known }

// ClassOf returns the class of a fault that hits a target, in a history with
// header h; ok is false for one that fits no class.
func ClassOf(fault string, target *history.Target, h history.Header) (c Class, ok bool) {
	k, known := kinds[fault]
	switch {
	case !known || k.none:
		return 0, false
	case !k.cut:
		return k.class, true
	case target != nil && len(target.Nodes) > 0 && h.Nodes-len(target.Nodes) >= h.Quorum:
		return MinorityCut, true
	}
	return MajorityCut, true
}
