package catalogue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"locktorture/faults"
	"locktorture/faults/internal/phrase"
	"locktorture/faults/internal/wait"
	"locktorture/faults/link"
	"locktorture/faults/testbed"
)

// How long a promotion may take: the master is written to while nothing of that
// reaches a replica, and then the Sentinels agree, or the masters of a cluster. The rest of what a heal may take is
// for the old master's return.
const (
	writtenAlone  = 350 * time.Millisecond // at least: shorter than it takes to call the master down
	unwritten     = 2 * time.Second        // at most, where nobody writes
	promotedIn    = 18 * time.Second
	servedIn      = 5 * time.Second
	servedAtEnd   = time.Second // where the run ends early
	promotionPoll = 5 * time.Millisecond
)

// A promotion takes the master of a deployment away from its replicas, and from the
// Sentinels where there are any. A replica takes its place.
type promotion struct {
	testbed.Deployment
	kill bool // it is killed as well; else its clients reach it all the while
}

// electors are those who promote a replica.
func (p promotion) electors() string {
	if _, watched := p.Deployment.(testbed.Sentinels); watched {
		return "the Sentinels"
	}
	return "the other masters"
}

// apart says from whom the master is cut off.
func (p promotion) apart() string {
	if _, watched := p.Deployment.(testbed.Sentinels); watched {
		return "is cut off from its replicas and the Sentinels"
	}
	return "is cut off from its replica"
}

func (p promotion) inject(ctx context.Context, s *faults.Scope, rng *rand.Rand) (faults.Injection, error) {
	if err := s.Claim(faults.Peers); err != nil { // one promotion at a time
		return faults.Injection{}, err
	}
	old, shard, err := s.PickMaster(ctx, p, rng)
	if err != nil {
		return faults.Injection{}, err
	}
	if err := s.Claim(old.Name()); err != nil {
		return faults.Injection{}, err
	}
	before, err := changes(ctx, old)
	if err != nil {
		return faults.Injection{}, err
	}
	hit := faults.Hit{Nodes: []string{old.Name()}, Key: s.Occasion.Key}
	s.Begin(hit)
	began := time.Now()
	cut, err := s.Link(faults.Peers, old.Name()).Impair(ctx, link.Impairment{Kind: link.Stall})
	if err != nil {
		return faults.Injection{}, err
	}
	s.OnHeal(old.Name()+" "+p.apart(), "end the run: its links end with it", func(ctx context.Context) (string, error) {
		_, err := cut.Heal(ctx)
		return "", err
	})
	e := &election{promotion: p, scope: s, old: old, shard: shard, began: began, before: before, cut: cut}
	if p.kill {
		if err := e.killMaster(ctx); err != nil {
			return faults.Injection{}, err
		}
	}
	s.OnHeal(old.Name()+" awaits its place as a replica", "restart the testbed", e.heal)
	return faults.Injection{Target: hit, Note: fmt.Sprintf("%s, the master, %s%s", old.Name(), p.apart(), e.killed)}, nil
}

// An election is a promotion under way.
type election struct {
	promotion
	scope  *faults.Scope
	old    testbed.Node
	shard  int
	next   testbed.Node // once it is promoted
	began  time.Time
	before int64 // changes of the old master's data when it was cut off
	lost   int64 // since, at the last look
	cut    link.Applied
	killed string // what was seen of that
	told   string // of the promotion
}

// killMaster kills the master once something was written to it that no replica has.
func (e *election) killMaster(ctx context.Context) error {
	for time.Since(e.began) < writtenAlone || e.lost == 0 && time.Since(e.began) < unwritten {
		if !wait.For(ctx, promotionPoll) {
			break
		}
		e.count(ctx)
	}
	receipt, err := e.old.(testbed.Killer).Kill(ctx)
	e.killed = fmt.Sprintf("; killed %v later: %s", phrase.Round(time.Since(e.began)), receipt)
	return err
}

// count counts the changes of the old master's data that no replica has.
func (e *election) count(ctx context.Context) {
	ask, cancel := context.WithTimeout(ctx, faults.LookLimit)
	defer cancel()
	if now, err := changes(ask, e.old); err == nil {
		e.lost = max(e.lost, now-e.before)
	}
}

// promoted is the present master of the old master's shard.
func (e *election) promoted(ctx context.Context) (testbed.Node, error) {
	masters, err := e.Masters(ctx)
	if err != nil {
		return nil, err
	}
	return masters[e.shard], nil
}

// heal waits for the promotion, and for a client that the new master serves; then it
// lets the old one back, and waits until that is a replica.
func (e *election) heal(ctx context.Context) (string, error) {
	if e.next == nil {
		if err := e.awaitPromotion(ctx); err != nil {
			return "", err
		}
	}
	served := e.awaitService(ctx)
	e.count(ctx) // which an isolated master goes on to accept until its clients have heard
	if _, err := e.cut.Heal(ctx); err != nil {
		return "", err
	}
	if node := e.old.(testbed.Killer); !node.Alive() {
		if _, err := node.Restart(ctx, e.memory()); err != nil {
			return "", err
		}
	}
	if err := e.Settle(ctx); err != nil {
		return "", fmt.Errorf("%s is no replica yet: %w", e.old.Name(), err)
	}
	if e.lost == 0 || served == "" {
		return "", nil
	}
	return fmt.Sprintf("%s; %s; %d changes lost; %s is back, as a replica of %s", e.told, served, e.lost, e.old.Name(), e.next.Name()), nil
}

// memory is with what the old master comes back: what it had, where that is kept.
func (e *election) memory() testbed.Restart {
	if r, choosy := e.old.(testbed.Restarter); choosy && r.CanRestart(testbed.WithData) != nil {
		return testbed.Empty
	}
	return testbed.WithData
}

func (e *election) awaitPromotion(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, promotedIn)
	defer cancel()
	for {
		next, err := e.promoted(ctx)
		if err == nil && next != e.old {
			e.next = next
			e.told = fmt.Sprintf("%s promoted in the place of %s by %s, seen %v after the fault began", next.Name(), e.old.Name(), e.electors(), phrase.Round(time.Since(e.began)))
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s promoted nobody in the place of %s within %v: %w", e.electors(), e.old.Name(), promotedIn, errors.Join(ctx.Err(), err))
		}
		wait.For(ctx, promotionPoll)
	}
}

// patience is how long a client may take to ask the new master for something.
func patience(s *faults.Scope) time.Duration {
	select {
	case <-s.Over(): // hardly anybody asks any more
		return servedAtEnd
	default:
		return servedIn
	}
}

// awaitService waits until the new master answers a client, and says which; "" where
// none asks it.
func (e *election) awaitService(ctx context.Context) string {
	received := map[string]int64{}
	for _, c := range e.scope.Clients {
		received[c.Name()] = e.scope.Link(c.Name(), e.next.Name()).Traffic().Received
	}
	for began := time.Now(); time.Since(began) < patience(e.scope) && ctx.Err() == nil; wait.For(ctx, promotionPoll) {
		for _, c := range e.scope.Clients {
			if e.scope.Link(c.Name(), e.next.Name()).Traffic().Received > received[c.Name()] {
				return fmt.Sprintf("%s served by %s %v after that", c.Name(), e.next.Name(), phrase.Round(time.Since(began)))
			}
		}
	}
	return ""
}
