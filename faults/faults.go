// Package faults hurts the testbed on purpose: a nemesis follows a schedule,
// injecting each fault at its moment and healing it again, and keeps the
// receipts that prove that it bit.
package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"locktorture/faults/link"
	"locktorture/faults/testbed"
	"locktorture/faults/watch"
)

// StoreNode is the name of the guarded store's node among a Target's links.
const StoreNode = "store"

// ErrMissed is returned by Inject when it found nobody to hit: no holder, a
// victim that has moved on, a node that another step has down. Nothing was
// hurt; the nemesis tries again at the next moment.
var ErrMissed = errors.New("nobody to hit")

// A Target is everything that a fault may touch.
type Target struct {
	Testbed testbed.Testbed
	Clients []Client
	Link    func(client, node string) link.Link // node is a testbed node's name, or StoreNode
	Watch   *watch.Observer                     // who holds what right now, read off the history
	Quorum  int
	TTL     time.Duration

	// Fabric makes further links, such as that of a replica; nil when there is
	// none.
	Fabric link.Fabric

	// LeaseKeys names the keys that bear the lease of key on a node; nil when
	// the lock does not say. The swing role looks for them.
	LeaseKeys func(key string) []string

	// Quarantine is how long the lock itself keeps a node out that comes back
	// from a restart; 0 when it does not. Plans leave that much time between
	// two nodes that restart.
	Quarantine time.Duration

	// Notifies says that clients of the lock, under this load, subscribe to
	// releases.
	Notifies bool

	// ClientOf maps an owner in the history to its client's name; nil means
	// that an owner is its client's name, or begins with it and a separator.
	ClientOf func(owner string) string

	// Occasion is the life-cycle event that the step was locked to; its Moment
	// is empty for a step at a given time. The nemesis sets it.
	Occasion Occasion

	run   *run                 // what the steps of one run share; nil outside Run
	now   func() time.Duration // history time; nil outside Run
	over  <-chan struct{}      // closed when the run is to end early; nil outside Run
	begin func(Hit)            // records that the fault begins; nil outside Run
	undo  *undo                // how to heal what was hurt so far
	binds []bind               // to be bound once the fault is in force

	proofs []func() bool // see provedBy
}

// A Hit says whom a fault hits; it becomes the event's target.
type Hit struct {
	Clients   []string      `json:"clients,omitempty"`
	Nodes     []string      `json:"nodes,omitempty"`
	Key       string        `json:"key,omitempty"`       // the lease that it was aimed at
	Direction string        `json:"direction,omitempty"` // request, response; both when empty
	Instant   bool          `json:"-"`
	Since     time.Duration `json:"-"` // history time at which it really began, when before Begin
}

// An Injection is a fault in force.
//
// A receipt counts what this very fault changed: bytes that it touched,
// operations that it interrupted or refused, differences of counters. The
// nemesis adds its own condition: without an operation of a client under the
// fault a receipt proves nothing, and is kept as a note.
type Injection struct {
	Target  any    // whom it hit, a Hit as a rule; becomes the event's target
	Receipt string // what proves that it bit; empty when only the heal can tell
	Note    string // what was done, where that proves no bite yet
	Instant bool   // it is over at once (jump, flush); Heal says only what came of it

	// Heal undoes it, verifies that it is undone, and says what proves that it
	// bit. It succeeds on an injection already healed. An empty receipt where
	// Receipt was empty as well means that nothing proves that it bit. Nil
	// stands for everything that was given to Target.OnHeal.
	Heal func(ctx context.Context) (receipt string, err error)

	// Bitten, when set, reports whether the fault has hurt anything yet; where
	// it has not, there is no receipt. The nemesis prolongs a step that has not,
	// or has met no operation of a client, by two TTLs or its own length.
	Bitten func() bool
}

// A Fault is one way to hurt the target.
type Fault interface {
	// Name identifies the fault in histories and on the command line.
	Name() string

	// Supports says why t's testbed cannot suffer this fault, and which can, or
	// nil. It is asked before the run.
	Supports(t *Target) error

	// Inject starts the fault and returns soon. It picks its victims from t,
	// calls t.Begin before it touches them, and hands every undo to t.OnHeal
	// as it goes, so that an injection which fails or panics half-way is
	// healed. All choices come from rng, so that a seed reproduces them.
	Inject(ctx context.Context, t *Target, rng *rand.Rand) (Injection, error)
}

// Begin records that the fault begins to act on hit. A fault calls it once,
// when it knows its victims and before it touches them; one that does not is
// recorded when Inject returns.
func (t *Target) Begin(hit Hit) {
	if t.begin != nil {
		t.begin(hit)
	}
}

// Now is the history's time.
func (t *Target) Now() time.Duration {
	if t.now == nil {
		return 0
	}
	return t.now()
}

// Take claims a client or a node for a fault that would get in the way of
// another one there, until the heal. While it is taken, no role picks it. It
// returns ErrMissed when another fault has it.
func (t *Target) Take(name string) error {
	shared := t.shared()
	if !shared.take(name) {
		return fmt.Errorf("another fault has %s: %w", name, ErrMissed)
	}
	t.claimed(func() { shared.leave(name) })
	return nil
}

// ReserveLinks claims links for a fault that lets nothing pass. It returns ErrMissed
// when others have all of them: what they do it could not do.
func (t *Target) ReserveLinks(ids []LinkID) error {
	shared := t.shared()
	if !shared.reserve(ids) {
		return fmt.Errorf("nothing passes on these links as it is: %w", ErrMissed)
	}
	t.claimed(func() {
		for _, id := range ids {
			shared.cut(id, -1)
		}
	})
	return nil
}

// CutLink notes that nothing passes a link, until restored is called: roles that
// look for somebody unhurt pass over its client.
func (t *Target) CutLink(id LinkID) (restored func()) {
	shared := t.shared()
	shared.cut(id, 1)
	return func() { shared.cut(id, -1) }
}

// Number returns 1, 2, …, each once in a run: the names of a fabric's links must
// not repeat.
func (t *Target) Number() int { return t.shared().number() }

// Over returns a channel that is closed when the run is to end early.
func (t *Target) Over() <-chan struct{} { return t.over }

// claimed registers how to give back what was claimed.
func (t *Target) claimed(leave func()) {
	t.repairs().add(&repair{broken: "a claim is held", claim: true, heal: func(context.Context) (string, error) {
		leave()
		return "", nil
	}})
}

func (t *Target) repairs() *undo {
	if t.undo == nil {
		t.undo = &undo{}
	}
	return t.undo
}

// OnHeal registers how to undo what was just done. Undos run in reverse order.
// broken says in words what is wrong until then ("n2 is stopped"), byHand how
// a person could mend it.
func (t *Target) OnHeal(broken, byHand string, heal func(ctx context.Context) (string, error)) {
	t.repairs().add(&repair{broken: broken, byHand: byHand, heal: heal})
}

// What a Fault can say of itself beside.
type (
	// A Settable fault names the parameters that it takes, see Params. One that
	// does not say takes all.
	Settable interface{ Settings() []string }

	// A LinkFault hurts links, those to the guarded store among them.
	LinkFault interface{ HurtsLinks() }

	// A Claimer keeps other faults from its victims: Claims is their role, or
	// their names.
	Claimer interface{ Claims() string }

	// A Stretchable fault makes choices that depend on the length of its step.
	Stretchable interface {
		Lasting(length, ttl time.Duration) Fault
	}
)
