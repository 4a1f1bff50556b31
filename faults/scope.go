package faults

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A Scope is what one injection has to work with: the target, the state that it shares with
// other steps, and the list of what it has to undo. The nemesis makes one for each injection.
type Scope struct {
	*Target

	// Occasion is the life-cycle event that the step was locked to; its Moment
	// is empty for a step at a given time.
	Occasion Occasion

	sought time.Duration // how long the step has looked for a victim: since its moment came first

	run    *run
	now    func() time.Duration // history time
	over   <-chan struct{}      // closed when the run is to end early
	begin  func(Hit)            // records that the fault begins
	undo   undo                 // how to heal what was hurt so far
	binds  []bind               // to be bound once the fault is in force
	proofs []func() bool        // see ProvedBy
}

// Begin records that the fault begins to act on hit. A fault calls it once,
// when it knows its victims and before it touches them; one that does not is
// recorded when Inject returns.
func (s *Scope) Begin(hit Hit) {
	s.begin(hit)
}

// Now is the history's time.
func (s *Scope) Now() time.Duration {
	return s.now()
}

// Claim reserves a client or a node for a fault, until its end is recorded, so that no other fault of a
// kind that would interfere is injected there. While it is claimed, no role picks it. The
// error is ErrMissed when another fault has claimed it.
func (s *Scope) Claim(name string) error {
	shared := s.run
	if !shared.claim(name) {
		return fmt.Errorf("another fault has %s: %w", name, ErrMissed)
	}
	s.undo.claim(func() { shared.leave(name) })
	return nil
}

// ReserveLinks claims links for a fault that lets nothing pass. It returns ErrMissed when other
// such faults have all of them, so that this one could change nothing.
func (s *Scope) ReserveLinks(ids []LinkID) error {
	shared := s.run
	if !shared.reserve(ids) {
		return fmt.Errorf("nothing passes on these links as it is: %w", ErrMissed)
	}
	s.undo.claim(func() {
		for _, id := range ids {
			shared.cut(id, -1)
		}
	})
	return nil
}

// CutLink notes that nothing passes a link until restored is called: roles that look for an
// unimpaired client skip its client.
func (s *Scope) CutLink(id LinkID) (restored func()) {
	shared := s.run
	shared.cut(id, 1)
	return func() { shared.cut(id, -1) }
}

// Number returns 1, 2, …, each once in a run: the names of a fabric's links must
// not repeat.
func (s *Scope) Number() int { return s.run.number() }

// Over returns a channel that is closed when the run is to end early.
func (s *Scope) Over() <-chan struct{} { return s.over }

// OnHeal registers how to undo what was just done. Undos run in reverse order. broken says what
// is wrong until then ("n2 is stopped"), byHand how a person could mend it.
func (s *Scope) OnHeal(broken, byHand string, heal func(ctx context.Context) (string, error)) {
	s.undo.add(&repair{broken: broken, byHand: byHand, heal: heal})
}

// Background runs work until the heal, which cancels its context and waits for it. receipt then
// returns what proves that it took effect.
func (s *Scope) Background(broken string, work func(ctx context.Context) error, receipt func() string) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() { failed = work(ctx) })
	s.OnHeal(broken, "end the run: what does it ends with it", func(context.Context) (string, error) {
		cancel()
		wg.Wait()
		if failed != nil {
			return "", failed
		}
		return receipt(), nil
	})
}

// ProvedBy adds a proof that the fault has taken effect. Where there are any, one of
// them must hold, beside the injection's own TookEffect.
func (s *Scope) ProvedBy(tookEffect func() bool) { s.proofs = append(s.proofs, tookEffect) }
